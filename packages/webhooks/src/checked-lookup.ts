import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { refusalOf } from './address-rules.js'
import type { TargetPolicy } from './target-policy.js'

/** A host name resolves only to addresses that webhooks may not connect to. */
export class RefusedTarget extends Error {}

/**
 * Resolves host names for connections and returns the allowed addresses only. The connection uses a checked address, so a name
 * that resolves differently a moment later (DNS rebinding) has no effect.
 */
export function createCheckedLookup(policy: TargetPolicy, resolve: typeof systemLookup = systemLookup) {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const named = policy.hosts.has(hostname.toLowerCase().replace(/\.$/, ''))
      const allowed = addresses.filter(({ address }) => named || refusalOf(address, policy) === null)
      const [first] = allowed
      if (!first) {
        const reason = refusalOf(addresses[0]?.address ?? '', policy) ?? 'has no address'
        return callback(new RefusedTarget(`${hostname} ${reason}`), [])
      }
      if (options.all) return callback(null, allowed)
      callback(null, first.address, first.family)
    })
  }
  return lookup
}
