import { rateLimited } from '@switchyard/domain'
import type { Request, Response } from 'express'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { tokenKey } from './authentication.js'

/**
 * Counts a request and refuses it when its sender had too many in this minute.
 *
 * @param token of the request, known to be good; null for a request without one
 */
export type RateLimit = (request: Request, response: Response, token: string | null) => Promise<void>

/**
 * @param perMinute requests per token, or per address when there is none; 0 switches the limit off
 */
export function createRateLimit(perMinute: number): RateLimit {
  if (perMinute === 0) return async () => {}
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return async (request, response, token) => {
    const sender = token === null ? `address ${request.ip}` : tokenKey(token)
    const { outcome, exceeded } = await consume(limiter, sender)
    response.set({
      'RateLimit-Limit': String(perMinute),
      'RateLimit-Remaining': String(Math.max(0, outcome.remainingPoints)),
      'RateLimit-Reset': String(Math.ceil(outcome.msBeforeNext / 1000)),
    })
    if (exceeded) throw tooManyRequests(outcome.msBeforeNext)
  }
}

async function consume(limiter: RateLimiterMemory, sender: string) {
  try {
    return { outcome: await limiter.consume(sender), exceeded: false }
  } catch (error) {
    if (error instanceof RateLimiterRes) return { outcome: error, exceeded: true }
    throw error
  }
}

/** @param retryAfterMs when the sender may go on */
export const tooManyRequests = (retryAfterMs: number) =>
  rateLimited('This endpoint has been requested too many times. Try again later.', retryAfterMs)
