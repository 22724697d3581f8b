import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import type { TargetPolicy } from './target-policy.js'
import { addressProblem } from './target-url.js'

/**
 * Opens connections to hosts that the policy allows. A connection to an IP address makes no look-up, so a
 * user of the agent has to check such a host by `hostProblem`.
 *
 * undici is loaded at the first use, because it takes 26 MB, and most processes that can send never do.
 */
export async function openAgent(
  policy: TargetPolicy,
  { timeoutMs, verifyTls }: { timeoutMs: number; verifyTls: boolean },
): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connect: { lookup: createCheckedLookup(policy), timeout: timeoutMs, rejectUnauthorized: verifyTls },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 5000,
    // Single messages gain nothing from HTTP/2, and every receiver supports 1.1.
    allowH2: false,
  })
}

/** The error of a host name that resolves only to addresses that the policy refuses. */
export class RefusedTarget extends Error {}

/**
 * Creates a look-up that returns only allowed addresses. The connection uses a checked address, so a name
 * that resolves differently a moment later (DNS rebinding) has no effect.
 */
export function createCheckedLookup(policy: TargetPolicy, resolve: typeof systemLookup = systemLookup) {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const named = policy.hosts.has(hostname.toLowerCase().replace(/\.$/, ''))
      const allowed = addresses.filter(({ address }) => named || addressProblem(address, policy) === null)
      const [first] = allowed
      if (!first) {
        const reason = addressProblem(addresses[0]?.address ?? '', policy) ?? 'has no address'
        return callback(new RefusedTarget(`${hostname} ${reason}`), [])
      }
      if (options.all) return callback(null, allowed)
      callback(null, first.address, first.family)
    })
  }
  return lookup
}
