import type { Caller } from '@switchyard/domain/access'
import { LRUCache } from 'lru-cache'
import { type Authenticate, tokenKey } from './authentication.js'
import type { CreateLimiter } from './limiters.js'
import { tooManyRequests } from './rate-limit.js'
import { senderAddress } from './sender-address.js'

/**
 * Who holds a secret that came from an address, null when nobody does.
 *
 * @throws DomainError rate-limited when the address has sent too many unknown tokens
 */
export type AuthenticateFrom = (secret: string, address: string) => Promise<Caller | null>

export interface UnknownTokenOptions {
  isOn: boolean
  kind: 'tokens' | 'sessions'
  createLimiter: CreateLimiter
}

/** Unknown tokens that an address may send in a minute. */
const unknownPerMinuteMax = 60
/** An address that sends more is refused for a minute, and twice as long each further time within an hour. */
const refusedSeconds = 60
const refusedSecondsMax = 15 * 60
const rememberedSeconds = 3600
/** Tokens that were good within this time are looked up whatever else comes from their address. */
const goodMs = 10 * 60_000

/**
 * Counts the unknown tokens of each address, so that nobody finds a token by trying: random tokens would otherwise cost a
 * look-up each, and each would get a rate limit of its own. An address that has sent too many is refused, except with tokens
 * that were good lately.
 *
 * @param options.isOn false: nothing is counted
 * @param options.kind tokens and sessions are counted apart, because a browser goes on sending the cookie of an ended session
 */
export function limitUnknownTokens(
  authenticate: Authenticate,
  { isOn, kind, createLimiter }: UnknownTokenOptions,
): AuthenticateFrom {
  if (!isOn) return (secret) => authenticate(secret)
  const unknown = createLimiter({ name: `unknown-${kind}`, points: unknownPerMinuteMax, durationSeconds: 60 })
  const refusals = createLimiter({ name: `refused-${kind}`, points: 1, durationSeconds: rememberedSeconds })
  const good = new LRUCache<string, true>({ max: 10_000, ttl: goodMs })

  async function count(sender: string): Promise<void> {
    const sent = await unknown.penalty(sender)
    // Once: refusing sets the number beyond it.
    if (sent.consumedPoints !== unknownPerMinuteMax) return
    const { consumedPoints: times } = await refusals.penalty(sender)
    await unknown.block(sender, Math.min(refusedSeconds * 2 ** (times - 1), refusedSecondsMax))
  }

  return async (secret, address) => {
    const key = tokenKey(secret)
    const sender = senderAddress(address)
    if (!good.has(key)) {
      const sent = await unknown.get(sender)
      if (sent !== null && sent.remainingPoints <= 0) throw tooManyRequests(sent.msBeforeNext)
    }
    const caller = await authenticate(secret)
    if (caller) good.set(key, true)
    else {
      good.delete(key)
      await count(sender)
    }
    return caller
  }
}
