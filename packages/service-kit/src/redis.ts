import { redisOptions } from '@switchyard/config'
import { Redis, type RedisOptions, ReplyError } from 'ioredis'
import type { Logger } from './observability/index.js'

export interface RedisClientOptions extends RedisOptions {
  url: string
  /** Called on every connection failure; ioredis goes on reconnecting by itself. */
  onError: (error: Error) => void
}

/**
 * A network that swallows packets reports nothing: a connection on which an answer does not come is closed
 * after this time.
 */
const answerTimeoutMs = 10_000

/**
 * A client that reconnects for ever. While Redis is unavailable, a command fails at once instead of waiting
 * in a buffer.
 */
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
 * A readiness check. Its errors are for operators: none has a text of the client's, which speaks of sockets
 * and queues.
 */
export async function checkRedis(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') throw new Error('there is no connection to Redis')
  try {
    await redis.ping()
  } catch (error) {
    const code = error instanceof ReplyError ? /^[A-Z]+/.exec((error as Error).message)?.[0] : undefined
    throw new Error(code ? `Redis refuses commands (${code})` : 'Redis does not answer', { cause: error })
  }
}

/**
 * A command that is refused is refused again and again, such as every write while the memory of Redis is
 * full.
 */
const failedCommandEveryMs = 60_000

/** A client, and what logs its failures. */
export interface ReportedRedis {
  redis: Redis
  report: ReturnType<typeof reportRedis>
}

/** A client whose outages are logged. @param outageMessage logged when one starts */
export function openRedis(
  url: string,
  logger: Logger,
  outageMessage: string,
  options: RedisOptions = {},
): ReportedRedis {
  const report = reportRedis(logger, outageMessage)
  const redis = createRedis({ url, onError: report.disconnected, ...options })
  redis.on('ready', report.connected)
  return { redis, report }
}

/**
 * Logs the start and the end of an outage of Redis, not every attempt to reconnect; and commands that fail,
 * with at most one line a minute.
 *
 * @param message logged when an outage starts
 */
function reportRedis(logger: Logger, message: string) {
  let isConnected = true
  let quietUntilMs = 0
  return {
    /** For the `error` events of a connection. */
    disconnected(error: unknown) {
      if (isConnected) logger.warn({ err: error }, message)
      isConnected = false
    },
    /** For its `ready` events. */
    connected() {
      if (!isConnected) logger.info('connected to Redis again')
      isConnected = true
    },
    /**
     * For commands that nobody waits for: a Redis that answers may refuse them, for want of memory or of a
     * right. A command that fails with its connection is no refusal, and `disconnected` reports the
     * connection.
     */
    commandFailed(error: unknown) {
      if (!(error instanceof ReplyError)) return
      const nowMs = performance.now()
      if (nowMs < quietUntilMs) return
      quietUntilMs = nowMs + failedCommandEveryMs
      logger.warn({ err: error }, 'a Redis command failed')
    },
  }
}
