import { allowedIssuers, openFindJob } from '@switchyard/callers'
import {
  createDatabase,
  type Database,
  findCaller,
  findSessionCaller,
  isDatabaseUnavailable,
  isMissingProject,
  openDatabase,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { createGit, type Git, type GitOptions } from '@switchyard/git-storage/git'
import { targetPolicy } from '@switchyard/outbound-http'
import {
  type CreateLimiter,
  createAuthenticator,
  createHttpApp,
  type FindCaller,
  limitersOfProcess,
  limitersOfReplicas,
  limitUnknownTokens,
  listen,
} from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools, type Logger } from '@switchyard/service-kit/observability'
import { exposeSlots, Slots } from '@switchyard/service-kit/slots'
import { createSecretBox } from '@switchyard/webhooks'
import { findDeployCaller } from './access/deploy-tokens/store.js'
import { deviceCodeLimit } from './access/device-authorization/device-authorization.js'
import { createProvider } from './access/sign-in/provider.js'
import { recordingSessionUse, recordingTokenUse } from './access/tokens/token-use.js'
import { provisionAdministrator, startProvisioning } from './access/users/provisioning.js'
import { erasingMsMax } from './access/users/user-removal.js'
import { createBackgroundWork } from './background-work.js'
import { createReportReads, createReportThreads } from './ci/reports/reports.js'
import { createStatusLookup } from './ci/statuses/status-lookup.js'
import { createStatusRecorder } from './ci/statuses/status-recorder.js'
import type { Config } from './config.js'
import { startShowingDelivery } from './delivery/delivery-metrics/gauges.js'
import { startMeasuringChanges } from './delivery/deployment-changes/deployment-changes.js'
import { createFreezeCalendar } from './delivery/freeze-periods/freeze-periods.js'
import { createFreezeLists } from './delivery/freezes/freezes.js'
import { createGuards, projectNamedBy } from './guards.js'
import { openOutgoingMessages } from './outgoing-messages.js'
import { startRemovingOrphans } from './projects/orphaned-repositories.js'
import { createCommitBodies } from './repository/commits/commit-bodies.js'
import { startNotifying } from './repository/references/outbox.js'
import { routes } from './routes.js'
import { providersOf } from './sign-in-config.js'
import { createStorageMetrics, storagesOf } from './storages/storages.js'
import { checkStorage, exposeStorage } from './system/storage.js'
import { createStorageSpace } from './system/storage-space.js'
import { createSystemState, type StorageSpace } from './system/system.js'

/**
 * Serves users, projects, repositories, pipelines, releases and deployments. Readiness needs PostgreSQL, the
 * storage and the provisioned administrator. The service stays ready without Redis, which only carries
 * background work.
 */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const storageRoot = config.SWITCHYARD_STORAGE_ROOT
  watchStorage(config, { health, metrics })
  const database = openDatabase(config, 'git-api', { health, lifecycle })
  exposePools(metrics, { main: database.pool })
  const storages = storagesOf(config)
  const storageMetrics = createStorageMetrics(metrics)
  const severalStorages = storages.others.size > 0 ? await import('./storages/join-storages.js') : null
  const { messages, redis, backgroundWork } = openWorkAfterAnswers(config, storages.own, {
    logger,
    lifecycle,
  })

  provision(config, database, { logger, health, lifecycle })
  const createLimiter = openLimiters(config, { logger, lifecycle })
  const bySettings = partsBySettings(config)
  const authentication = openAuthentication(config, { database, createLimiter, logger, lifecycle })
  const storageSpace = createStorageSpace({ database, storageRoot, logger }, config)
  const withoutMove = severalStorages?.withoutMoveIn(database, storages.own)
  const git = openGit(config, storageSpace, withoutMove, { lifecycle })
  const transfers = transfersOf(config)
  const shared = { database, git, storages, storageRoot, logger, ...transfers }
  const joined = severalStorages?.joinStorages(shared, storageMetrics, lifecycle)
  startRepeatedWork({ ...shared, metrics }, lifecycle)
  const threads = openThreads(lifecycle)
  exposeSlotsOf(metrics, git, threads)
  const app = createHttpApp({
    logger,
    metrics,
    health,
    authenticate: authentication.authenticate,
    findSession: authentication.findSession,
    projectOf: projectNamedBy,
    forward: joined?.forward,
    routes: routes({
      ...authentication,
      database,
      guards: createGuards(database, git, storages.own),
      // Where device tokens are not allowed, the limiter of the process is enough, so nothing connects to
      // Redis for it.
      deviceCodeLimiter: (bySettings.deviceTokenDays ? createLimiter : limitersOfProcess)(deviceCodeLimit),
      ...bySettings,
      erasingDatabase: openErasingDatabase(config, lifecycle),
      messages,
      backgroundWork,
      ...threads,
      statuses: createStatusRecorder(database),
      statusLookup: createStatusLookup(database, storageRoot, logger),
      freezeCalendar: createFreezeCalendar(),
      git,
      storages,
      storageSpace,
      readSystemState: createSystemState({ build: bySettings.build, database, redis, git, storageRoot }),
      ...transfers,
      logger,
    }).concat(joined?.routes ?? []),
    isUnavailable: isDatabaseUnavailable,
    refusalOf: (error) => (isMissingProject(error) ? notFound('Project', { cause: error }) : null),
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    createLimiter,
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
    externalUrl: config.EXTERNAL_URL,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  return { port: server.port }
}

/**
 * Opens the work after answers: messages to other processes, and work in this process, which ends before the
 * connection to Redis is closed.
 */
function openWorkAfterAnswers(
  config: Config,
  storage: string,
  { logger, lifecycle }: Pick<ServiceContext, 'logger' | 'lifecycle'>,
) {
  const { messages, redis } = openOutgoingMessages(config.REDIS_URL.reveal(), logger, storage)
  lifecycle.onClose('outgoing messages', () => messages.close())
  const backgroundWork = createBackgroundWork()
  lifecycle.onClose('background work', () => backgroundWork.close())
  return { messages, redis, backgroundWork }
}

/** Opens the one connection over which users are erased. */
function openErasingDatabase(
  { DATABASE_URL: url }: Config,
  lifecycle: ServiceContext['lifecycle'],
): Database {
  const database = createDatabase({
    url: url.reveal(),
    poolSizeMax: 1,
    applicationName: 'git-api-erase',
    answerTimeoutMs: erasingMsMax,
  })
  lifecycle.onClose('postgres for erasing', () => database.close())
  return database
}

/** Returns the parts that depend only on the settings. */
const partsBySettings = (config: Config) => ({
  ...signInOf(config),
  webhookTargets: targetPolicy(config),
  allowedIssuers: allowedIssuers(config),
  secretBox: createSecretBox(config),
  build: { revision: config.SWITCHYARD_REVISION, time: config.SWITCHYARD_REVISION_TIME },
})

/**
 * Starts work that no request waits for: finishing the work of killed processes (notifying webhooks, removing
 * deleted files), measuring deployments, and exporting the delivery metrics.
 */
function startRepeatedWork(
  deps: Parameters<typeof startNotifying>[0] &
    Parameters<typeof startRemovingOrphans>[0] &
    Parameters<typeof startShowingDelivery>[0],
  lifecycle: ServiceContext['lifecycle'],
): void {
  const notifying = startNotifying(deps)
  lifecycle.onClose('notifying', () => notifying.close())
  const removing = startRemovingOrphans(deps)
  lifecycle.onClose('removing orphaned repositories', () => removing.close())
  const measuring = startMeasuringChanges(deps)
  lifecycle.onClose('measuring changes', () => measuring.close())
  const showing = startShowingDelivery(deps)
  lifecycle.onClose('showing deliveries', () => showing.close())
}

function watchStorage(
  { SWITCHYARD_STORAGE_ROOT: root, STORAGE_FREE_BYTES_MIN: freeBytesMin }: Config,
  { health, metrics }: Pick<ServiceContext, 'health' | 'metrics'>,
): void {
  health.addCheck('storage', () => checkStorage(root))
  exposeStorage(metrics, root, freeBytesMin)
}

/** Opens the threads that parse large bodies, and the slots for reading reports and lists of freezes. */
function openThreads(lifecycle: ServiceContext['lifecycle']) {
  const commitBodies = createCommitBodies()
  lifecycle.onClose('commit bodies', () => commitBodies.close())
  const reportThreads = createReportThreads()
  lifecycle.onClose('report threads', () => reportThreads.close())
  return {
    commitBodies,
    reportThreads,
    reportReads: createReportReads(),
    freezeLists: createFreezeLists(),
  }
}

/** Creates the first administrator as soon as the database answers. */
function provision(
  config: Config,
  database: Database,
  { logger, health, lifecycle }: Pick<ServiceContext, 'logger' | 'health' | 'lifecycle'>,
): void {
  const provisioning = startProvisioning(
    () => provisionAdministrator(database, administratorOf(config), logger),
    logger,
  )
  lifecycle.onClose('provisioning', () => provisioning.close())
  health.addCheck('provisioning', () => provisioning.check())
}

/** Returns the settings of the first administrator. */
const administratorOf = (config: Config) => ({
  token: config.SWITCHYARD_ROOT_TOKEN?.reveal(),
  tokenFile: config.SWITCHYARD_ROOT_TOKEN_KEPT_IN,
})

function openGit(
  config: Config,
  storageSpace: StorageSpace,
  withoutMove: GitOptions['withoutMove'] | undefined,
  { lifecycle }: Pick<ServiceContext, 'lifecycle'>,
): Git {
  const git = createGit(config.SWITCHYARD_STORAGE_ROOT, {
    cacheBytesMax: config.GIT_CACHE_BYTES_MAX,
    processBytesMax: config.GIT_PROCESS_BYTES_MAX,
    memoryBytesMax: config.GIT_MEMORY_BYTES_MAX,
    streamsMax: config.GIT_SESSIONS_MAX,
    streamsPerSenderMax: config.GIT_SESSIONS_PER_USER_MAX,
    takeSpace: storageSpace.take,
    ...(withoutMove && { withoutMove }),
  })
  lifecycle.onClose('git', () => git.close())
  return git
}

const openLimiters = (config: Config, context: Pick<ServiceContext, 'logger' | 'lifecycle'>) =>
  limitersOfReplicas({ ...context, redisUrl: config.REDIS_URL.reveal(), service: 'git-api' })

interface AuthenticationDependencies {
  database: Database
  createLimiter: CreateLimiter
  logger: Logger
  lifecycle: ServiceContext['lifecycle']
}

/** Finds the holders of tokens and sessions, and records their use. */
function openAuthentication(
  config: Config,
  { database, createLimiter, logger, lifecycle }: AuthenticationDependencies,
) {
  const findToken: FindCaller = async (hash) =>
    (await findCaller(database, hash)) ?? findDeployCaller(database, hash)
  const authenticator = createAuthenticator(
    recordingTokenUse(database, findToken, logger),
    openFindJob(config, { database, logger, lifecycle }),
  )
  const sessions = {
    authenticate: limitUnknownTokens(authenticator.authenticate, {
      isOn: config.RATE_LIMIT_PER_MINUTE > 0,
      kind: 'tokens',
      createLimiter,
    }),
    idleMs: config.SESSION_IDLE_SECONDS_MAX * 1000,
    lifetimeMs: config.SESSION_LIFETIME_SECONDS_MAX * 1000,
    tokenSignIn: config.TOKEN_SIGN_IN,
  }
  const findHolder: FindCaller = (hash) => findSessionCaller(database, hash)
  const recordingToken = recordingTokenUse(database, findHolder, logger)
  const findSession = recordingSessionUse(database, recordingToken, sessions.idleMs, logger)
  return { ...authenticator, findSession, sessions }
}

/**
 * Returns the settings of single sign-on and of users' own tokens. Each provider is contacted at its first
 * use, so the service starts while a provider is down.
 */
function signInOf(config: Config) {
  const baseUrl = config.EXTERNAL_URL ?? ''
  return {
    signInProviders: new Map(providersOf(config).map((each) => [each.name, createProvider(each, baseUrl)])),
    ownTokenDaysMax: config.USER_TOKEN_LIFETIME_DAYS_MAX,
    deviceTokenDays: config.DEVICE_TOKEN_LIFETIME_DAYS,
  }
}

/** Returns the limits of transfers between clients and the storage. */
function transfersOf(config: Config) {
  // A transfer of an LFS object or a file needs no git process, so only the transfers of each sender are
  // limited.
  const limits = {
    total: Number.POSITIVE_INFINITY,
    perSender: config.LFS_TRANSFERS_PER_USER_MAX,
    waitMs: 30_000,
    waitingPerSenderMax: 100,
  }
  return {
    lfsTransfers: new Slots(limits, {
      sender: 'You have too many transfers of files under way. Try again later.',
      everybody: 'too many transfers of files are under way',
      retryAfterMs: limits.waitMs,
    }),
    transferIdleMs: config.GIT_IDLE_TIMEOUT_MS,
    lfsObjectBytesMax: config.LFS_OBJECT_BYTES_MAX,
    packageFileBytesMax: config.PACKAGE_FILE_BYTES_MAX,
    uploadBytesMax: config.UPLOAD_BYTES_MAX,
  }
}

function exposeSlotsOf(
  { registry }: ServiceContext['metrics'],
  { slots, questions }: Git,
  { reportReads: report, freezeLists: freeze }: Record<'reportReads' | 'freezeLists', Slots>,
): void {
  const { streams, processes, memory } = slots
  const help =
    'Work of git, on reports and on lists of freezes, that is under way (held) or waits for a slot, by kind.'
  exposeSlots(
    registry,
    { name: 'git_api_slots', help },
    { stream: streams, process: processes, question: questions, report, freeze },
  )
  exposeSlots(
    registry,
    {
      name: 'git_api_memory_bytes',
      help: 'Memory that is set aside for git, and the processes that wait for it.',
    },
    { process: memory },
  )
}
