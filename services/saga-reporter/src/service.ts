import { descriptorSet } from '@switchyard/contracts/descriptors'
import {
  checkDatabase,
  createDatabase,
  createSagaEventStore,
  type Database,
  findCaller,
  findSessionCaller,
  isDatabaseUnavailable,
  type SagaEventStore,
} from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { trustsNobody } from '@switchyard/service-kit/config'
import {
  type Authenticate,
  type CreateLimiter,
  createAuthenticate,
  createHttpApp,
  limitersOfProcess,
  limitersOfReplicas,
  limitUnknownTokens,
  listen,
} from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools } from '@switchyard/service-kit/observability'
import { createSecretBox, targetPolicy } from '@switchyard/webhooks'
import { createAuthorize } from './access/authorize.js'
import { createAuthorizeReader } from './access/authorize-reader.js'
import { createRateLimit } from './access/rate-limit.js'
import { startBulkRunner } from './bulk/runner.js'
import { type Config, sagaAuthOf, streamLimitsOf, tlsFilesOf } from './config.js'
import { createIngestFigures, type IngestFigures } from './ingest/ingest-figures.js'
import { createSagaIngest, type SagaIngest } from './ingest/saga-ingest.js'
import { createWriteBatch } from './ingest/write-batch.js'
import { createLiveSagas } from './live/live-sagas.js'
import { routes } from './routes/index.js'
import type { WebhookDependencies } from './routes/webhooks/dependencies.js'
import { createReaderAdmission } from './rpc/reader-admission.js'
import { createReportAdmission } from './rpc/report-method.js'
import { sagaIngestService } from './rpc/saga-ingest.js'
import { type SagaQueryDependencies, sagaQueryService } from './rpc/saga-query.js'
import { createRecoveryAdmission, sagaRecoveryService } from './rpc/saga-recovery.js'
import { olderName, sagaServices } from './rpc/saga-service.js'
import { type GrpcService, startGrpcServer } from './rpc/server/server.js'
import { createReportEvents } from './use-cases/report-events.js'
import { createResolveSaga } from './use-cases/resolve-saga.js'
import { checkMetadata, nameAddress } from './wire/metadata.js'

/** Takes lifecycle events over gRPC and shows sagas over HTTP. When it closes, gRPC drains first, and the connections to PostgreSQL close last. */
export async function createService(config: Config, context: ServiceContext) {
  const { logger, metrics, health, lifecycle } = context
  const databases = openDatabases(config, lifecycle)
  const { database, readDatabase } = databases
  health.addCheck('postgres', () => checkDatabase(database))
  exposePools(metrics, { main: database.pool, read: readDatabase.pool })

  const redisUrl = config.REDIS_URL?.reveal()
  const limits = streamLimitsOf(config)
  const live = createLiveSagas({ database, readDatabase, redisUrl, logger, metrics, limits })
  const stream = { live, stallMsMax: config.SAGA_STREAM_STALL_MS_MAX }
  const figures = createIngestFigures(metrics)
  const store = createSagaEventStore(database, { strict: config.SAGA_STRICT, onCommitted: live.announce })
  const ingest = openIngest(config, { store, figures, logger })
  lifecycle.onClose('ingest', () => ingest.close())
  const runner = startBulkRunner({ database, store, clock: systemClock, logger })
  lifecycle.onClose('bulk jobs', () => runner.close())
  const reporting = openReporting(config, { ingest, figures })

  const createLimiter = openLimiters(config, { logger, lifecycle })
  const authenticate = createAuthenticate((hash) => findCaller(database, hash))
  const app = createHttpApp({
    logger,
    metrics,
    health,
    authenticate,
    findSession: (hash) => findSessionCaller(database, hash),
    routes: routes({
      readDatabase,
      clock: systemClock,
      report: reporting.reportEvents,
      isForCertificates: config.SAGA_AUTH === 'mtls',
      resolve: createResolveSaga({ store, readDatabase, clock: systemClock }),
      bulk: { database: readDatabase, runner },
      stream,
      traceUrlTemplate: config.SWITCHYARD_TRACE_URL,
      webhooks: webhooksOf(config, readDatabase),
    }),
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    createLimiter,
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
    externalUrl: config.EXTERNAL_URL,
  })
  const http = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => http.close())
  lifecycle.onClose('streams', () => live.close())

  const needs = { ...databases, reporting, authenticate, createLimiter, stream, logger }
  const grpc = await startGrpc(config, context, grpcServices(config, needs))
  lifecycle.onClose('grpc', () => grpc.close())
  return { port: http.port, grpcPort: grpc.port }
}

const startGrpc = (config: Config, { health, logger, metrics }: ServiceContext, services: GrpcService[]) =>
  startGrpcServer({
    host: config.GRPC_HOST,
    port: config.GRPC_PORT,
    tls: tlsFilesOf(config),
    services,
    descriptorSet,
    aliases: [olderName],
    checkArrived: ({ metadata, droppedKeys, peer }) => {
      checkMetadata({ metadata, droppedKeys })
      nameAddress(metadata, peer, config.GRPC_TRUSTED_PROXIES ?? trustsNobody)
    },
    health,
    logger,
    metrics,
    drainTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  })

const webhooksOf = (config: Config, database: Database): WebhookDependencies => ({
  database,
  policy: targetPolicy(config),
  secretBox: createSecretBox(config),
})

interface GrpcNeeds extends Pick<ServiceContext, 'logger'> {
  database: Database
  readDatabase: Database
  reporting: ReturnType<typeof openReporting>
  authenticate: Authenticate
  createLimiter: CreateLimiter
  stream: Pick<SagaQueryDependencies, 'live' | 'stallMsMax'>
}

function grpcServices(config: Config, needs: GrpcNeeds): GrpcService[] {
  const { database, readDatabase, stream, logger } = needs
  const authenticateFrom = limitUnknownTokens(needs.authenticate, {
    isOn: config.RATE_LIMIT_PER_MINUTE > 0,
    kind: 'tokens',
    createLimiter: needs.createLimiter,
  })
  const authorize = createAuthorize(sagaAuthOf(config, authenticateFrom))
  const authorizeReader = createAuthorizeReader(authenticateFrom)
  const unavailableAsFailure = config.SAGA_UNAVAILABLE_AS_FAILURE
  const reporting = { ...needs.reporting, authorize, unavailableAsFailure, logger }
  const reports = createReportAdmission(reporting)
  const reads = createReaderAdmission(authorizeReader)
  const recoveries = createRecoveryAdmission(authorize)
  return [
    ...sagaServices(reporting, reports),
    sagaIngestService(reporting),
    sagaQueryService({
      database: readDatabase,
      authorize: authorizeReader,
      admission: reads,
      ...stream,
      logger,
    }),
    sagaRecoveryService({ database, admission: recoveries, logger }),
  ]
}

interface ReportingNeeds {
  ingest: SagaIngest
  figures: IngestFigures
}

function openReporting(config: Config, needs: ReportingNeeds) {
  const rateLimit = rateLimitOf(config)
  const reportEvents = createReportEvents({
    ...needs,
    rateLimit,
    clock: systemClock,
    validation: { serviceNameRequired: !config.SAGA_SERVICE_NAME_OPTIONAL },
    limits: { payloadBytesMax: config.SAGA_PAYLOAD_BYTES_MAX, errorsBytesMax: config.SAGA_ERRORS_BYTES_MAX },
  })
  return { rateLimit, reportEvents }
}

interface IngestNeeds extends Pick<ServiceContext, 'logger'> {
  store: SagaEventStore
  figures: IngestFigures
}

function openIngest(config: Config, { store, figures, logger }: IngestNeeds) {
  return createSagaIngest({
    writeBatch: createWriteBatch((events) => store.record(events), figures, logger),
    transactionsMax: config.SAGA_INGEST_LANES,
    queue: { eventsMax: config.SAGA_INGEST_QUEUE_MAX, bytesMax: config.SAGA_INGEST_QUEUE_BYTES_MAX },
  })
}

function openDatabases(config: Config, lifecycle: ServiceContext['lifecycle']) {
  const database = createDatabase({
    url: config.DATABASE_URL.reveal(),
    poolSizeMax: config.DATABASE_POOL_SIZE_MAX,
    applicationName: 'saga-reporter',
  })
  lifecycle.onClose('postgres', () => database.close())
  const readDatabase = createDatabase({
    url: config.DATABASE_URL.reveal(),
    poolSizeMax: config.DATABASE_READ_POOL_SIZE_MAX,
    applicationName: 'saga-reporter-read',
    statementTimeoutMs: config.DATABASE_READ_TIMEOUT_MS,
    // PostgreSQL cancels the statement first, with an error that says so.
    answerTimeoutMs: config.DATABASE_READ_TIMEOUT_MS + 5000,
  })
  lifecycle.onClose('postgres for reading', () => readDatabase.close())
  return { database, readDatabase }
}

function openLimiters(config: Config, { logger, lifecycle }: Pick<ServiceContext, 'logger' | 'lifecycle'>) {
  const redisUrl = config.REDIS_URL?.reveal()
  if (redisUrl === undefined) return limitersOfProcess
  return limitersOfReplicas({ redisUrl, service: 'saga-reporter', logger, lifecycle })
}

const rateLimitOf = (config: Config) =>
  createRateLimit({
    perSecond: config.SAGA_RATE_LIMIT_PER_SERVICE,
    burst: config.SAGA_RATE_LIMIT_BURST ?? config.SAGA_RATE_LIMIT_PER_SERVICE,
    nowMs: () => performance.now(),
  })
