import { redisOptions } from '@switchyard/config'
import { Redis, type RedisOptions, ReplyError } from 'ioredis'
import { createOutageLog, type Logger } from './observability/index.js'

export interface RedisClientOptions extends RedisOptions {
  url: string
  /** Called for every failure of a connection. ioredis reconnects by itself. */
  onError: (error: Error) => void
}

/**
 * Time after which a connection without an answer is closed, because a network that drops packets reports
 * nothing.
 */
const answerTimeoutMs = 10_000

/**
 * Creates a client that reconnects for ever. While Redis is unavailable, a command fails at once instead of
 * waiting in a buffer.
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
 * Checks that Redis is ready. Its errors are for operators, so none has a message of the client library,
 * which is about sockets and queues.
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
 * Time between two log lines about failed commands. A refused command is refused again and again, such as
 * every write while the memory of Redis is full.
 */
const failedCommandEveryMs = 60_000

/** A client, and the functions that log its failures. */
export interface ReportedRedis {
  redis: Redis
  report: ReturnType<typeof reportRedis>
}

/** Opens a client whose outages are logged. @param outageMessage logged when one starts */
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
 * Logs the start and the end of an outage of Redis, not every attempt to reconnect. Logs failed commands with
 * at most one line a minute.
 *
 * @param message logged when an outage starts
 */
function reportRedis(logger: Logger, message: string) {
  const outage = createOutageLog(logger, { lost: message, back: 'connected to Redis again' })
  let quietUntilMs = 0
  return {
    /** Handles the `error` events of a connection. */
    disconnected: (error: unknown) => outage.failed({ err: error }),
    /** Handles the `ready` events of a connection. */
    connected: () => outage.worked(),
    /**
     * Handles failures of commands that nobody waits for, because Redis may refuse them for lack of memory or
     * rights. A command that fails with its connection is not logged here, because `disconnected` reports the
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
