import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import type { TargetPolicy } from './target-policy.js'
import { addressProblem, hostnameOf, hostProblem } from './target-url.js'

interface OutboundRequest extends Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> {
  signal: AbortSignal
  /** False: any certificate of the target is accepted. Unset: true. */
  verifyTls?: boolean | undefined
}

export type OutboundResponse = Dispatcher.ResponseData

export interface OutboundClient {
  /**
   * Sends a request. It follows no redirects.
   *
   * @throws RefusedTarget when the policy refuses the host
   */
  request(url: string | URL, request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

/** Creates a client that connects only to hosts that the policy allows. */
export function createOutboundClient(policy: TargetPolicy, timeoutMs: number): OutboundClient {
  const agents = new Map<boolean, Promise<Agent>>()
  return {
    async request(url, { verifyTls = true, ...request }) {
      const target = new URL(url)
      // A connection to an IP address makes no look-up, so the address is checked here.
      const problem = hostProblem(hostnameOf(target), policy)
      if (problem !== null) throw new RefusedTarget(`the target ${problem}`)
      const agent = agents.get(verifyTls) ?? openAgent(policy, timeoutMs, verifyTls)
      agents.set(verifyTls, agent)
      // Loading undici fails while the process has no file handles left. The next request loads it again.
      agent.catch(() => agents.delete(verifyTls))
      const { origin, pathname, search } = target
      return (await agent).request({ ...request, origin, path: pathname + search })
    },
    async close() {
      for (const agent of agents.values()) await (await agent).close()
    },
  }
}

/** Loads undici at the first use, because it takes 26 MB, and most processes that can send never do. */
async function openAgent(policy: TargetPolicy, timeoutMs: number, verifyTls: boolean): Promise<Agent> {
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

/** The error of a host that the policy refuses, or that resolves only to addresses that it refuses. */
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
        return callback(new RefusedTarget(`the target is refused: ${hostname} ${reason}`), [])
      }
      if (options.all) return callback(null, allowed)
      callback(null, first.address, first.family)
    })
  }
  return lookup
}
