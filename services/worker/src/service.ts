import { findCaller, isDatabaseUnavailable, openDatabase } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { createHeartbeat } from '@switchyard/jobs-heartbeat'
import { createAuthenticator, createHttpApp, listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools } from '@switchyard/service-kit/observability'
import { checkRedis, openRedis } from '@switchyard/service-kit/redis'
import { checkStoredSecrets } from '@switchyard/webhooks'
import { createAuditTools } from './audit/audit.js'
import type { Config } from './config.js'
import { impactSettingsOf } from './impact-config.js'
import { queueOf } from './job-type.js'
import { jobTypes } from './jobs.js'
import { createJobMetrics } from './queues/job-metrics.js'
import { createProducer } from './queues/producer.js'
import { keepSchedules } from './queues/schedules.js'
import { startWorkers } from './queues/workers.js'
import { sagaSettingsOf } from './saga-config.js'
import { keepMetrics } from './sagas/keep-metrics.js'
import { createSagaMetrics } from './sagas/metrics.js'
import { createWebhookTools } from './webhooks/webhooks.js'

/** Runs background jobs. Its HTTP port serves only probes and metrics. */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const database = openDatabase(config, 'worker', { health, lifecycle })
  exposePools(metrics, { main: database.pool })

  const outageMessage = 'no connection to Redis: no jobs are run'
  const { redis, report } = openRedis(config.REDIS_URL.reveal(), logger, outageMessage)
  lifecycle.onClose('redis', () => redis.disconnect())
  health.addCheck('redis', () => checkRedis(redis))
  const { authenticate } = createAuthenticator((hash) => findCaller(database, hash))
  const app = createHttpApp({
    logger,
    metrics,
    health,
    authenticate,
    routes: [],
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())

  const sagas = sagaSettingsOf(config)
  const sagaMetrics = createSagaMetrics(metrics.registry, config.SAGA_METRIC_SERVICES_MAX)
  const kept = keepMetrics({ database, metrics: sagaMetrics, logger, everyMs: sagas.sweepEveryMs })
  lifecycle.onClose('saga-metrics', () => kept.stop())

  const producer = createProducer(redis)
  lifecycle.onClose('producer', () => producer.close())

  const webhooks = createWebhookTools(config, { metrics, lifecycle })
  health.addCheck('webhook-secrets', () => checkStoredSecrets(database, webhooks.secretBox))

  const types = jobTypes({
    database,
    clock: systemClock,
    logger,
    redis,
    producer,
    storage: config.SWITCHYARD_STORAGE,
    storageRoot: config.SWITCHYARD_STORAGE_ROOT,
    housekeepingConcurrency: config.WORKER_HOUSEKEEPING_CONCURRENCY,
    sagas,
    impact: impactSettingsOf(config),
    sagaMetrics,
    webhooks,
    audit: await createAuditTools(config, metrics, database),
  })
  keepSchedules(types, redis, logger)
  const heartbeat = createHeartbeat({
    redis,
    tag: config.WORKER_TAG,
    onError: (error) => logger.debug({ err: error }, 'heartbeat did not reach Redis'),
  })
  const workers = startWorkers({
    types,
    redisUrl: config.REDIS_URL.reveal(),
    logger,
    metrics: createJobMetrics(metrics, types.map(queueOf)),
    heartbeat,
    graceMs: config.SHUTDOWN_TIMEOUT_MS,
    redis,
    onCommandFailed: report.commandFailed,
  })
  lifecycle.onClose('heartbeat', () => heartbeat.stop())
  lifecycle.onClose('workers', () => workers.close())
  return { port: server.port }
}
