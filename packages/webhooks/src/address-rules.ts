import ipaddr from 'ipaddr.js'
import type { TargetPolicy } from './target-policy.js'

/** What an operator may open with one switch. Everything else that is not public has to be named. */
const privateRanges = new Set(['private', 'uniqueLocal', 'carrierGradeNat', 'loopback'])

/** Every address that is routed on the public internet lies here. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Why a webhook may not connect to an address; null when it may. Only public addresses are taken, so that a
 * webhook cannot be aimed at what only this machine can reach: neighbours, metadata services, itself. Addresses
 * that wrap another one (IPv4-mapped, 6to4, NAT64, Teredo) are refused, or judged by what they wrap.
 *
 * @param address in text, without brackets
 */
export function refusalOf(address: string, policy: TargetPolicy): string | null {
  if (!ipaddr.isValid(address)) return 'is not an address'
  const parsed = ipaddr.process(address)
  if (policy.networks.some((network) => contains(network, parsed))) return null
  const range = rangeOf(parsed)
  if (range === 'unicast') return null
  if (policy.privateNetworks && privateRanges.has(range)) return null
  return `is not a public address (${wordOf(range)})`
}

/** @returns `unicast` for public addresses, else the name of their range */
function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range()
  if (address.kind() === 'ipv4' || range !== 'unicast') return range
  return (address as ipaddr.IPv6).match(globalIpv6) ? range : 'reserved'
}

const contains = ([base, bits]: TargetPolicy['networks'][number], address: ipaddr.IPv4 | ipaddr.IPv6) =>
  base.kind() === address.kind() && address.match(base as ipaddr.IPv6, bits)

/** `carrierGradeNat` → `carrier grade nat`. */
const wordOf = (range: string) => range.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
