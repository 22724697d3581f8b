import { openCallers } from '@switchyard/callers'
import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { isDatabaseUnavailable, openDatabase } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { createHttpApp, createStreamSlots, limitersOfReplicas, listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools } from '@switchyard/service-kit/observability'
import { checkRedis, createRedis } from '@switchyard/service-kit/redis'
import type { Config } from './config.js'
import { createHistory, createReadHistory } from './history/history.js'
import { recordHistory } from './history/record-history.js'
import { createOwnQueues } from './own-jobs/own-queues.js'
import { createReadMetrics, exposeSources } from './prometheus/prometheus.js'
import { routes } from './routes.js'
import { createSnapshots } from './snapshots/snapshots.js'
import { createStateStreams } from './snapshots/state-streams.js'
import type { SourceConfig } from './source-config.js'
import { openSources } from './sources/open-sources.js'
import { shareSource } from './sources/sources.js'

const deadlineMs = 2000
const streaming = { intervalMs: 2000, lifeMs: 10 * 60_000 }
const streamLimits = { max: 500, perSenderMax: 50 }

/** The source for the background jobs of this installation itself. */
const ownJobs: SourceConfig = {
  kind: 'bullmq',
  name: 'switchyard',
  prefix: jobKeyPrefix,
  queues: [],
  // All of Switchyard's workers have a heartbeat.
  discover: false,
}

/**
 * Serves the metrics of background jobs. It only reads its sources, and never writes to them. The failed jobs
 * of this installation itself can be retried and removed.
 */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const database = openDatabase(config, 'jobqueue-metrics', { health, lifecycle })
  exposePools(metrics, { main: database.pool })

  const redis = createRedis({
    url: config.REDIS_URL.reveal(),
    // Readiness shows the outage; this is called at every reconnect attempt.
    onError: (error) => logger.debug({ err: error }, 'Redis is unreachable'),
    commandTimeout: deadlineMs,
  })
  lifecycle.onClose('redis', () => redis.disconnect())
  health.addCheck('redis', () => checkRedis(redis))

  const sources = openSources({
    sources: config.JOBQUEUE_SOURCES ?? [ownJobs],
    redisUrl: config.REDIS_URL,
    timeoutMs: deadlineMs,
    clock: systemClock,
    logger,
  })
  for (const source of sources) lifecycle.onClose(source.name, () => source.close())

  const ownQueues = createOwnQueues(redis)
  lifecycle.onClose('own queues', () => ownQueues.close())

  const { onRead } = createReadMetrics(metrics)
  const sharing = { cacheMs: config.JOBQUEUE_CACHE_MS, deadlineMs, onRead }
  const snapshots = createSnapshots(sources.map((source) => shareSource({ source, ...sharing })))
  exposeSources(metrics, snapshots)

  const history = createHistory(snapshots.names)
  if (config.JOBQUEUE_HISTORY) {
    const recording = recordHistory({ snapshots, history, redis, clock: systemClock, logger })
    lifecycle.onClose('history', () => recording.stop())
  }

  const streams = createStateStreams(streaming)
  const app = createHttpApp({
    logger,
    metrics,
    health,
    ...openCallers(config, { database, logger, lifecycle }),
    routes: routes({
      database,
      queues: ownQueues,
      snapshots,
      readHistory: createReadHistory(history, snapshots.names, systemClock),
      streams,
      streamSlots: createStreamSlots(streamLimits),
    }),
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    createLimiter: limitersOfReplicas({
      redisUrl: config.REDIS_URL.reveal(),
      service: 'jobqueue-metrics',
      logger,
      lifecycle,
    }),
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
    externalUrl: config.EXTERNAL_URL,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  lifecycle.onClose('streams', () => streams.close())
  return { port: server.port }
}
