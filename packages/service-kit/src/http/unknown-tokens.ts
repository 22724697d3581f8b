import { unavailable } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { LRUCache } from 'lru-cache'
import { Slots } from '../slots.js'
import { type Authenticate, type AuthenticateFrom, tokenKey } from './authentication.js'
import type { CreateLimiter } from './limiters.js'
import { tooManyRequests } from './rate-limit.js'
import { senderAddress } from './sender.js'

export interface UnknownTokenOptions {
  isOn: boolean
  kind: 'tokens' | 'sessions'
  createLimiter: CreateLimiter
}

/** Most unknown tokens of an address in a minute. */
const unknownPerMinuteMax = 60
/** Time for which an address that sends more is refused. It doubles with each further time within an hour. */
const refusedSeconds = 60
const refusedSecondsMax = 15 * 60
const rememberedSeconds = 3600
/**
 * Look-ups of tokens from refused addresses at the same time. They are limited so that a flood leaves
 * connections to the database free. Many may wait, because a valid token may be among those of its address.
 */
const lookUpsOfRefused = {
  total: 2,
  perSender: 2,
  waitMs: 10_000,
  waitingMax: 5000,
  waitingPerSenderMax: 1000,
}
const retryAfterMs = 1000
const tooMany = 'too many tokens of addresses that have sent unknown ones'
const lookUpRefusals = { sender: tooMany, everybody: tooMany, retryAfterMs }
/** A token that was valid within this time is looked up at once, whatever else its address sends. */
const goodMs = 10 * 60_000
const rememberedMax = 10_000

/**
 * Counts the unknown tokens of each address, so that nobody finds a token by trying. An address that has sent
 * too many receives no answer about unknown tokens for a while. Valid tokens still work there, because others
 * may share the address.
 *
 * @param options.isOn false: nothing is counted
 * @param options.kind tokens and sessions are counted apart, because a browser continues to send the cookie
 * of an ended session
 */
export function limitUnknownTokens(
  authenticate: Authenticate,
  { isOn, kind, createLimiter }: UnknownTokenOptions,
): AuthenticateFrom {
  if (!isOn) return authenticate
  const unknown = createLimiter({ name: `unknown-${kind}`, points: unknownPerMinuteMax, durationSeconds: 60 })
  const refusals = createLimiter({ name: `refused-${kind}`, points: 1, durationSeconds: rememberedSeconds })
  const good = new LRUCache<string, true>({ max: rememberedMax, ttl: goodMs })
  /** Refused addresses that this process knows. */
  const refused = new LRUCache<string, true>({ max: rememberedMax })
  const lookUps = new Slots(lookUpsOfRefused, lookUpRefusals)

  async function requireFewUnknown(sender: string): Promise<void> {
    const sent = await unknown.get(sender)
    if (sent === null || sent.remainingPoints > 0) return
    refused.set(sender, true, { ttl: Math.max(1, sent.msBeforeNext) })
    throw tooManyRequests(sent.msBeforeNext)
  }

  async function count(sender: string): Promise<void> {
    const sent = await unknown.penalty(sender)
    // Exactly once, because a refusal sets the number beyond it.
    if (sent.consumedPoints !== unknownPerMinuteMax) return
    const { consumedPoints: times } = await refusals.penalty(sender)
    await unknown.block(sender, Math.min(refusedSeconds * 2 ** (times - 1), refusedSecondsMax))
  }

  async function lookUpInSlot(
    sender: string,
    signal: AbortSignal | undefined,
    lookUp: () => Promise<Caller | null>,
  ): Promise<Caller | null> {
    const giveBack = await lookUps.take({ sender }, signal).catch((cause: unknown) => {
      // A token that is not looked up may be valid, so its request does not continue without a sender. A
      // cookie is ignored, because otherwise nobody at this address could sign in.
      throw kind === 'tokens' ? unavailable(tooMany, { retryAfterMs, cause }) : tooManyRequests(retryAfterMs)
    })
    try {
      return await lookUp()
    } finally {
      giveBack()
    }
  }

  return async (secret, address, project, signal) => {
    const key = tokenKey(secret)
    const sender = senderAddress(address)
    const waits = refused.has(sender) && !good.has(key)
    const lookUp = () => authenticate(secret, address, project)
    const caller = await (waits ? lookUpInSlot(sender, signal?.(), lookUp) : lookUp())
    if (caller) {
      good.set(key, true)
      return caller
    }
    good.delete(key)
    await requireFewUnknown(sender)
    await count(sender)
    return null
  }
}
