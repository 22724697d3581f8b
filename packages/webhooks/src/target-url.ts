import { isIP } from 'node:net'
import { refusalOf } from './address-rules.js'
import type { TargetPolicy } from './target-policy.js'

const urlLengthMax = 2048

/**
 * Why a URL cannot be the target of a webhook, as far as the URL alone shows it; null when it may be. What its
 * name resolves to is judged at every connection anew.
 */
export function urlProblem(text: string, policy: TargetPolicy): string | null {
  if (text.length > urlLengthMax) return `is too long (maximum is ${urlLengthMax} characters)`
  const url = parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  return hostProblem(hostnameOf(url), policy)
}

/** Host name or address of a URL, lower-cased, without brackets and without the dot of a complete name. */
export const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** Why an address in the place of a host, or `localhost`, is refused; null for any other name. */
export function hostProblem(hostname: string, policy: TargetPolicy): string | null {
  if (policy.hosts.has(hostname)) return null
  const address = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname
  if (isIP(address) === 0) return null
  const refusal = refusalOf(address, policy)
  return refusal === null ? null : `is refused: ${hostname} ${refusal}`
}

const parse = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)
