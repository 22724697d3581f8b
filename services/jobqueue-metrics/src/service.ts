import { checkDatabase, createDatabase, findCaller, isDatabaseUnavailable } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { createAuthenticate, createHttpApp, listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { createRedis } from '@switchyard/service-kit/redis'
import type { Config } from './config.js'
import { routes } from './routes/index.js'
import { createSnapshots } from './snapshot/snapshots.js'
import { createBullmqSource } from './sources/bullmq/bullmq-source.js'

const deadlineMs = 2000

/** Tells how the background jobs are doing. Reads Redis, writes nothing anywhere. */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const database = createDatabase({
    url: config.DATABASE_URL.reveal(),
    poolSizeMax: config.DATABASE_POOL_SIZE_MAX,
    applicationName: 'jobqueue-metrics',
  })
  lifecycle.onClose('postgres', () => database.close())
  health.addCheck('postgres', () => checkDatabase(database))

  const redis = createRedis({
    url: config.REDIS_URL.reveal(),
    // Requests and readiness tell of an outage; every attempt to reconnect would tell of it again.
    onError: (error) => logger.debug({ err: error }, 'Redis is away'),
    commandTimeout: deadlineMs,
  })
  lifecycle.onClose('redis', () => redis.disconnect())
  health.addCheck('redis', () => redis.ping())

  const readSnapshot = createSnapshots({
    source: createBullmqSource(redis, systemClock),
    cacheMs: config.JOBQUEUE_CACHE_MS,
    deadlineMs,
  })
  const app = createHttpApp({
    logger,
    metrics,
    health,
    authenticate: createAuthenticate((hash) => findCaller(database, hash)),
    routes: routes(readSnapshot),
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    externalUrl: config.EXTERNAL_URL,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  return { port: server.port }
}
