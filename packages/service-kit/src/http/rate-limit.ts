import { rateLimited } from '@switchyard/domain'
import type { Response } from 'express'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import type { CreateLimiter } from './limiters.js'

/**
 * A function that counts a request, and refuses it when its sender had too many in this minute.
 *
 * @param limitKey requests with the same key are counted together
 */
export type RateLimit = (response: Response, limitKey: string) => Promise<void>

/**
 * Creates the rate limit of a service.
 *
 * @param perMinute requests with one key; 0 switches the limit off
 */
export function createRateLimit(perMinute: number, createLimiter: CreateLimiter): RateLimit {
  if (perMinute === 0) return async () => {}
  const limiter = createLimiter({ name: 'requests', points: perMinute, durationSeconds: 60 })
  return async (response, limitKey) => {
    const { outcome, exceeded } = await consume(limiter, limitKey)
    response.set({
      'RateLimit-Limit': String(perMinute),
      'RateLimit-Remaining': String(Math.max(0, outcome.remainingPoints)),
      'RateLimit-Reset': String(Math.ceil(outcome.msBeforeNext / 1000)),
    })
    if (exceeded) throw tooManyRequests(outcome.msBeforeNext)
  }
}

async function consume(limiter: RateLimiterAbstract, limitKey: string) {
  try {
    return { outcome: await limiter.consume(limitKey), exceeded: false }
  } catch (error) {
    if (error instanceof RateLimiterRes) return { outcome: error, exceeded: true }
    throw error
  }
}

/**
 * Returns the error for too many requests.
 *
 * @param retryAfterMs time until the next request is accepted
 */
export const tooManyRequests = (retryAfterMs: number) =>
  rateLimited('This endpoint has been requested too many times. Try again later.', retryAfterMs)
