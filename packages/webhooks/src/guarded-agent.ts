import type { Agent } from 'undici'
import { createCheckedLookup } from './checked-lookup.js'
import type { TargetPolicy } from './target-policy.js'

/**
 * Opens connections to hosts that the policy allows. A connection to an IP address makes no look-up, so whoever uses the agent
 * checks such a host by `hostProblem`.
 *
 * undici is loaded at the first use: it takes 26 MB, and most processes that can send never do.
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
    // Single messages gain nothing from HTTP/2, and every receiver speaks 1.1.
    allowH2: false,
  })
}
