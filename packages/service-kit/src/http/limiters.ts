import type { Redis } from 'ioredis'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { Lifecycle } from '../lifecycle/index.js'
import type { Logger } from '../observability/index.js'
import { openRedis } from '../redis.js'

export interface Limit {
  /** Part of the keys in Redis. Limiters of replicas with the same name count together. */
  name: string
  points: number
  durationSeconds: number
}

export type CreateLimiter = (limit: Limit) => RateLimiterAbstract

/** Creates limiters that count in this process only. */
export const limitersOfProcess: CreateLimiter = ({ points, durationSeconds: duration }) =>
  new RateLimiterMemory({ points, duration })

/** Returns the first part of the keys that count for a service. */
const limitKeyPrefix = (service: string): string => `switchyard:limits:${service}`

/** Longest time that a request waits for Redis before this process counts it alone. */
const commandTimeoutMs = 50
/**
 * A connection without an answer for this time is given up. Until the next connection is ready, no request
 * waits for Redis.
 */
const silenceMsMax = 1000

export interface SharedLimiterOptions {
  redisUrl: string
  service: string
  logger: Logger
  lifecycle: Lifecycle
}

/**
 * Creates limiters that count for all replicas of a service together, in Redis. While Redis is unreachable or
 * slow, each process counts alone: a limit never fails a request, and delays it by 50 ms at most.
 */
export function limitersOfReplicas(options: SharedLimiterOptions): CreateLimiter {
  let redis: Redis | undefined
  // One limiter for each name, so that its users count together even while the process counts alone.
  const limiters = new Map<string, RateLimiterAbstract>()
  return (limit) => {
    const known = limiters.get(limit.name)
    if (known) return known
    // Nothing connects while limits are switched off.
    redis ??= connect(options)
    const limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${limitKeyPrefix(options.service)}:${limit.name}`,
      points: limit.points,
      duration: limit.durationSeconds,
      rejectIfRedisNotReady: true,
      insuranceLimiter: limitersOfProcess(limit),
    })
    limiters.set(limit.name, limiter)
    return limiter
  }
}

function connect({ redisUrl, logger, lifecycle }: SharedLimiterOptions): Redis {
  const outageMessage = 'no connection to Redis: each process counts for its limits by itself'
  const { redis } = openRedis(redisUrl, logger, outageMessage, {
    commandTimeout: commandTimeoutMs,
    socketTimeout: silenceMsMax,
  })
  lifecycle.onClose('limits', () => redis.disconnect())
  return redis
}
