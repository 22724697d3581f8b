import { isIP } from 'node:net'
import { tooLongText } from '@switchyard/domain'
import ipaddr from 'ipaddr.js'
import type { TargetPolicy } from './target-policy.js'

const urlLengthMax = 2048

/**
 * Returns the reason why a URL cannot be the target of requests; null when it can. Host names are resolved
 * and checked at each connection.
 */
export function urlProblem(text: string, policy: TargetPolicy): string | null {
  if (text.length > urlLengthMax) return tooLongText(urlLengthMax)
  const url = parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  return hostProblem(hostnameOf(url), policy)
}

/** Returns the host name or address of a URL in lower case, without brackets and without a trailing dot. */
export const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/**
 * Returns the reason why an IP address or `localhost` is refused as a host; null when it is allowed, and for
 * any other name.
 */
export function hostProblem(hostname: string, policy: TargetPolicy): string | null {
  if (policy.hosts.has(hostname)) return null
  const address = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname
  if (isIP(address) === 0) return null
  const refusal = addressProblem(address, policy)
  return refusal === null ? null : `is refused: ${hostname} ${refusal}`
}

const parse = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

/**
 * Ranges that `WEBHOOK_ALLOW_PRIVATE_NETWORKS` allows. Other non-public addresses must be listed one by one.
 */
const privateRanges = new Set(['private', 'uniqueLocal', 'carrierGradeNat', 'loopback'])

/** The range of all IPv6 addresses that are routed on the public internet. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Returns the reason why requests may not go to an address; null when they may. Only public addresses are
 * allowed, so that no user can make this service call internal servers, metadata services or this machine. An
 * address that embeds another one (IPv4-mapped, 6to4, NAT64, Teredo) is refused or checked by the embedded
 * address.
 *
 * @param address as text, without brackets
 */
export function addressProblem(address: string, policy: TargetPolicy): string | null {
  if (!ipaddr.isValid(address)) return 'is not an address'
  const parsed = ipaddr.process(address)
  if (policy.networks.some((network) => contains(network, parsed))) return null
  const range = rangeOf(parsed)
  if (range === 'unicast') return null
  if (policy.privateNetworks && privateRanges.has(range)) return null
  return `is not a public address (${wordOf(range)})`
}

/**
 * Returns the range of an address.
 *
 * @returns `unicast` for public addresses, otherwise the name of their range
 */
function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range()
  if (address.kind() === 'ipv4' || range !== 'unicast') return range
  return (address as ipaddr.IPv6).match(globalIpv6) ? range : 'reserved'
}

const contains = ([base, bits]: TargetPolicy['networks'][number], address: ipaddr.IPv4 | ipaddr.IPv6) =>
  base.kind() === address.kind() && address.match(base as ipaddr.IPv6, bits)

/** Returns the words of a range: `carrierGradeNat` → `carrier grade nat`. */
const wordOf = (range: string) => range.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
