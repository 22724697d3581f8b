import { redisOptions } from '@switchyard/config'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from './observability/index.js'

export { redisOptions }

export interface RedisClientOptions extends RedisOptions {
  url: string
  /** Called on every connection failure; ioredis goes on reconnecting by itself. */
  onError: (error: Error) => void
}

/** A network that swallows packets reports nothing: a connection on which an answer does not come is closed after this time. */
const answerTimeoutMs = 10_000

/** A client that reconnects for ever. While Redis is unavailable, a command fails at once instead of waiting in a buffer. */
export function createRedis({ url, onError, ...options }: RedisClientOptions): Redis {
  const redis = new Redis({
    ...redisOptions(url),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    socketTimeout: answerTimeoutMs,
    ...options,
  })
  redis.on('error', onError)
  return redis
}

/**
 * Logs the begin and the end of an outage of Redis, not every attempt to reconnect.
 *
 * @param message logged when an outage begins
 */
export function reportOutages(logger: Logger, message: string) {
  let away = false
  return {
    failed(error: unknown) {
      if (!away) logger.warn({ err: error }, message)
      away = true
    },
    over() {
      if (away) logger.info('Redis is back')
      away = false
    },
  }
}
