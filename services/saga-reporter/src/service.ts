import { openCallers } from '@switchyard/callers'
import { trustsNobody } from '@switchyard/config'
import { descriptorSet } from '@switchyard/contracts/descriptors'
import { type Database, openDatabase } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { targetPolicy } from '@switchyard/outbound-http'
import { createSagaEventStore, type SagaEventStore } from '@switchyard/saga-store'
import {
  type Authenticate,
  type AuthenticateFrom,
  type CreateLimiter,
  createHttpApp,
  type HttpAppOptions,
  limitersOfProcess,
  limitersOfReplicas,
  limitUnknownTokens,
  listen,
  type Route,
  refusingUnknown,
} from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools } from '@switchyard/service-kit/observability'
import { createSecretBox } from '@switchyard/webhooks'
import { createAdmitReader, createAdmitReporter, type SagaAuth } from './access/access.js'
import { addressOf, checkMetadata } from './access/metadata.js'
import { activityRoutes } from './activities/routes.js'
import { bulkRoutes } from './bulk/routes.js'
import { startBulkRunner } from './bulk/run.js'
import type { CommandDependencies } from './commands/commands.js'
import { sagaCommandsService } from './commands/grpc.js'
import { commandRoutes } from './commands/routes.js'
import { CommandWaiting } from './commands/waiting.js'
import { type Config, sagaAuthOf, tlsFilesOf } from './config.js'
import { exportRoutes } from './export/routes.js'
import type { GrpcService } from './grpc/grpc.js'
import { startGrpcServer } from './grpc/server.js'
import { isUnavailable, openLimitedDatabase } from './limited-database.js'
import { createWatchSagas } from './live/grpc.js'
import { createLiveSagas, type LiveSagas } from './live/live.js'
import { liveRoutes } from './live/routes.js'
import type { StreamLimits } from './live/stream-quota.js'
import { logRoutes } from './log/routes.js'
import { sagaQueryService } from './read/grpc.js'
import { sagaRoutes } from './read/routes.js'
import { sagaRecoveryService } from './recover/grpc.js'
import { createAnalyzeNewTables } from './report/analyze-new-tables.js'
import { olderName, reportServices } from './report/grpc.js'
import { createReportMetrics, type ReportMetrics } from './report/metrics.js'
import { createRateLimit } from './report/rate-limit.js'
import { createRecorder, createWriteBatch } from './report/record.js'
import { createReportEvents, type ReportEvents } from './report/report.js'
import { reportRoutes } from './report/routes.js'
import { resolveRoutes } from './resolve/routes.js'
import { searchRoutes } from './search/routes.js'
import { statsRoutes } from './stats/routes.js'
import { webhookRoutes } from './webhooks/routes.js'

/**
 * Time after which a call fails when the database does not answer, so that the caller can try another
 * instance.
 */
const answerTimeoutMs = 10_000

/**
 * Records events of sagas, and serves sagas to readers, both over gRPC and HTTP. On close, gRPC drains first,
 * and the connections to PostgreSQL close last.
 */
export async function createService(config: Config, context: ServiceContext) {
  const { logger, metrics, health, lifecycle } = context
  const database = openDatabase(config, 'saga-reporter', { health, lifecycle }, { answerTimeoutMs })
  const limitedDatabase = openLimitedDatabase(config, lifecycle)
  exposePools(metrics, { main: database.pool, read: limitedDatabase.pool })

  const redisUrl = config.REDIS_URL?.reveal()
  const limits = streamLimitsOf(config)
  const live = createLiveSagas({ database, limitedDatabase, redisUrl, logger, metrics, limits })
  const analyzeNewTables = createAnalyzeNewTables(database, (err) =>
    logger.warn({ err }, 'PostgreSQL could not analyze the tables of sagas'),
  )
  const store = createSagaEventStore(database, {
    strict: config.SAGA_STRICT,
    onCommitted(batch) {
      live.announce(batch)
      analyzeNewTables()
    },
  })
  const reportEvents = openReporting(config, context, store)
  const runner = startBulkRunner({ database, store, clock: systemClock, logger })
  lifecycle.onClose('bulk jobs', () => runner.close())
  const stream = { live, stallMsMax: config.SAGA_STREAM_STALL_MS_MAX }
  const commands = openCommands(config, limitedDatabase, logger)
  const routes: Route[] = refusingUnknown([
    ...reportRoutes(reportEvents, config.SAGA_AUTH === 'mtls'),
    ...searchRoutes(limitedDatabase),
    ...activityRoutes(limitedDatabase),
    ...statsRoutes(limitedDatabase, systemClock),
    ...exportRoutes({ database: limitedDatabase, stallMsMax: stream.stallMsMax }),
    ...liveRoutes(stream),
    ...webhookRoutes({
      database: limitedDatabase,
      policy: targetPolicy(config),
      secretBox: createSecretBox(config),
    }),
    ...bulkRoutes({ database: limitedDatabase, runner }),
    ...commandRoutes(commands),
    // `/sagas/:id` would take the names of the routes above for ids.
    ...sagaRoutes(limitedDatabase),
    ...logRoutes(limitedDatabase, config.SWITCHYARD_TRACE_URL),
    ...resolveRoutes({ database: limitedDatabase, store, clock: systemClock }),
  ])

  const createLimiter = openLimiters(config, { logger, lifecycle })
  const callers = openCallers(config, { database, logger, lifecycle })
  const app = createApp(config, context, { ...callers, routes, createLimiter })
  const http = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => http.close())
  lifecycle.onClose('streams', () => live.close())

  const deps = { reportEvents, ...callers, createLimiter, stream, commands, logger }
  const grpc = await startGrpc(config, context, grpcServices(config, { database, limitedDatabase, ...deps }))
  lifecycle.onClose('grpc', () => grpc.close())
  lifecycle.onClose('calls that wait for commands', () => commands.waiting.close())
  return { port: http.port, grpcPort: grpc.port }
}

type AppDependencies = Pick<HttpAppOptions, 'authenticate' | 'findSession' | 'routes' | 'createLimiter'>

const createApp = (config: Config, context: ServiceContext, deps: AppDependencies) =>
  createHttpApp({
    logger: context.logger,
    metrics: context.metrics,
    health: context.health,
    ...deps,
    isUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
    externalUrl: config.EXTERNAL_URL,
  })

const openCommands = (config: Config, database: Database, logger: ServiceContext['logger']) => ({
  database,
  waiting: new CommandWaiting({ database, logger }),
  needsApproval: config.SAGA_COMMANDS_APPROVAL,
})

function startGrpc(config: Config, { health, logger, metrics }: ServiceContext, services: GrpcService[]) {
  const trustsProxy = config.GRPC_TRUSTED_PROXIES ?? trustsNobody
  return startGrpcServer({
    host: config.GRPC_HOST,
    port: config.GRPC_PORT,
    tls: tlsFilesOf(config),
    services,
    descriptorSet,
    aliases: [olderName],
    checkArrived: checkMetadata,
    addressOf: (metadata, peer) => addressOf(metadata, peer, trustsProxy),
    health,
    logger,
    metrics,
    drainTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  })
}

interface GrpcDependencies extends Pick<ServiceContext, 'logger'> {
  database: Database
  limitedDatabase: Database
  reportEvents: ReportEvents
  authenticate: Authenticate
  createLimiter: CreateLimiter
  stream: { live: LiveSagas; stallMsMax: number }
  commands: CommandDependencies
}

function grpcServices(config: Config, deps: GrpcDependencies): GrpcService[] {
  const { database, limitedDatabase, reportEvents, stream, commands, logger } = deps
  const authenticateFrom = limitUnknownTokens(deps.authenticate, {
    isOn: config.RATE_LIMIT_PER_MINUTE > 0,
    kind: 'tokens',
    createLimiter: deps.createLimiter,
  })
  const admitReporter = createAdmitReporter(authOf(config, authenticateFrom))
  const unavailableAsFailure = config.SAGA_UNAVAILABLE_AS_FAILURE
  return [
    ...reportServices({ admitReporter, reportEvents, unavailableAsFailure, logger }),
    sagaQueryService({
      database: limitedDatabase,
      admitReader: createAdmitReader(authenticateFrom, deps.authenticate),
      watchSagas: createWatchSagas({ ...stream, logger }),
      logger,
    }),
    sagaRecoveryService({ database, admitReporter, logger }),
    sagaCommandsService({ ...commands, admitReporter, logger }),
  ]
}

function openReporting(
  config: Config,
  { metrics, logger, lifecycle }: ServiceContext,
  store: SagaEventStore,
): ReportEvents {
  const reportMetrics = createReportMetrics(metrics)
  const recorder = openRecorder(config, { store, metrics: reportMetrics, logger })
  lifecycle.onClose('ingest', () => recorder.close())
  return createReportEvents({
    recorder,
    metrics: reportMetrics,
    rateLimit: rateLimitOf(config),
    clock: systemClock,
    validation: { serviceNameRequired: !config.SAGA_SERVICE_NAME_OPTIONAL },
    limits: { payloadBytesMax: config.SAGA_PAYLOAD_BYTES_MAX, errorsBytesMax: config.SAGA_ERRORS_BYTES_MAX },
  })
}

interface RecorderDependencies extends Pick<ServiceContext, 'logger'> {
  store: SagaEventStore
  metrics: ReportMetrics
}

const openRecorder = (config: Config, { store, metrics, logger }: RecorderDependencies) =>
  createRecorder({
    writeBatch: createWriteBatch(store.record, metrics, logger),
    transactionsMax: config.SAGA_INGEST_LANES,
    queue: { eventsMax: config.SAGA_INGEST_QUEUE_MAX, bytesMax: config.SAGA_INGEST_QUEUE_BYTES_MAX },
  })

function openLimiters(config: Config, { logger, lifecycle }: Pick<ServiceContext, 'logger' | 'lifecycle'>) {
  const redisUrl = config.REDIS_URL?.reveal()
  if (redisUrl === undefined) return limitersOfProcess
  return limitersOfReplicas({ redisUrl, service: 'saga-reporter', logger, lifecycle })
}

const rateLimitOf = ({ SAGA_RATE_LIMIT_PER_SERVICE: perSecond, SAGA_RATE_LIMIT_BURST: burst }: Config) =>
  createRateLimit({ perSecond, burst: burst ?? perSecond, nowMs: () => performance.now() })

/** Returns how many clients may follow the log at once. */
function streamLimitsOf(config: Config): StreamLimits {
  const { SAGA_STREAMS_MAX: total } = config
  return {
    total,
    perToken: config.SAGA_STREAMS_PER_TOKEN_MAX ?? Math.max(1, Math.floor(total / 10)),
    perAddress: config.SAGA_STREAMS_PER_ADDRESS_MAX ?? Math.max(1, Math.floor(total / 4)),
  }
}

function authOf(config: Config, authenticate: AuthenticateFrom): SagaAuth {
  const auth = sagaAuthOf(config)
  return auth === 'mtls' ? { auth, peers: config.SAGA_MTLS_PEERS ?? new Map() } : { auth, authenticate }
}
