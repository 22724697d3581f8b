import type { Caller } from '@switchyard/domain/access'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { type Authenticate, tokenKey } from './authentication.js'
import { tooManyRequests } from './rate-limit.js'

/**
 * Who holds a secret that came from an address, null when nobody does.
 *
 * @throws DomainError rate-limited when the address has sent too many unknown tokens
 */
export type AuthenticateFrom = (secret: string, address: string) => Promise<Caller | null>

/** Unknown tokens that an address may send in a minute. */
const unknownPerMinuteMax = 60
/** Tokens that were good within this time are looked up whatever else comes from their address. */
const goodMs = 10 * 60_000

/**
 * Counts the unknown tokens of each address: random tokens would otherwise cost a look-up each, and each would get a
 * rate limit of its own. An address that has sent too many is refused, except with tokens that were good lately.
 *
 * @param isOn false: nothing is counted
 */
export function limitUnknownTokens(authenticate: Authenticate, isOn: boolean): AuthenticateFrom {
  if (!isOn) return (secret) => authenticate(secret)
  const unknown = new RateLimiterMemory({ points: unknownPerMinuteMax, duration: 60 })
  const good = new LRUCache<string, true>({ max: 10_000, ttl: goodMs })
  return async (secret, address) => {
    const key = tokenKey(secret)
    if (!good.has(key)) {
      const sent = await unknown.get(address)
      if (sent !== null && sent.remainingPoints <= 0) throw tooManyRequests(sent.msBeforeNext)
    }
    const caller = await authenticate(secret)
    if (caller) good.set(key, true)
    else {
      good.delete(key)
      await unknown.penalty(address)
    }
    return caller
  }
}
