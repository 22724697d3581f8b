import { isIP } from 'node:net'
import { refusalOf } from './address-rules.js'
import type { TargetPolicy } from './target-policy.js'

const urlLengthMax = 2048

/**
 * The reason why a URL cannot be the target of a webhook; null when it can. Host names are resolved and checked at each
 * connection.
 */
export function urlProblem(text: string, policy: TargetPolicy): string | null {
  if (text.length > urlLengthMax) return `is too long (maximum is ${urlLengthMax} characters)`
  const url = parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  return hostProblem(hostnameOf(url), policy)
}

/** Host name or address of a URL in lower case, without brackets and without a trailing dot. */
export const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** The reason why an IP address or `localhost` is refused as a host; null when it is allowed, and for any other name. */
export function hostProblem(hostname: string, policy: TargetPolicy): string | null {
  if (policy.hosts.has(hostname)) return null
  const address = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname
  if (isIP(address) === 0) return null
  const refusal = refusalOf(address, policy)
  return refusal === null ? null : `is refused: ${hostname} ${refusal}`
}

const parse = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)
