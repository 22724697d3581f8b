import ipaddr from 'ipaddr.js'
import type { TargetPolicy } from './target-policy.js'

/** Ranges that `WEBHOOK_ALLOW_PRIVATE_NETWORKS` allows. Other non-public addresses must be listed one by one. */
const privateRanges = new Set(['private', 'uniqueLocal', 'carrierGradeNat', 'loopback'])

/** The range of all IPv6 addresses that are routed on the public internet. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * The reason why webhooks may not connect to an address; null when they may. Only public addresses are allowed, so that a
 * webhook cannot reach internal servers, metadata services or this machine. An address that embeds another one (IPv4-mapped,
 * 6to4, NAT64, Teredo) is refused or checked by the embedded address.
 *
 * @param address as text, without brackets
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
