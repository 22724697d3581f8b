import ipaddr from 'ipaddr.js'

/** A provider gives each customer at least so many bits of IPv6 addresses: all of them are one sender. */
const networkBits = 64

/**
 * What stands for the address of a sender where senders are counted: an IPv4 address, or the network of an IPv6 address,
 * whose holder can use 2^64 addresses.
 */
export function senderAddress(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return ip ?? ''
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/${networkBits}`)}/${networkBits}`
}
