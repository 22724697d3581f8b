import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SolvableProblem } from '@switchyard/terminal'
import { getFreePort } from '../process/free-port.js'
import { lastFailure, rotateLog } from '../process/log-file.js'
import { type ProcessSpec, type SupervisedProcess, supervise } from '../process/supervised-process.js'
import type { Settings } from './settings.js'
import { webhookSecretKeys } from './webhook-secret-keys.js'

export const serviceNames = [
  'git-api',
  'admin-broadcast',
  'jobqueue-metrics',
  'saga-reporter',
  'worker',
  'console',
] as const

export type ServiceName = (typeof serviceNames)[number]

/** The services that use the database. The console serves files and holds no data. */
export type DatabaseServiceName = Exclude<ServiceName, 'console'>

export interface RunningService {
  name: ServiceName
  port: number
  process: SupervisedProcess
}

export interface BackingUrls {
  databaseUrlOf: (service: DatabaseServiceName) => string
  redisUrlOf: (service: DatabaseServiceName) => string
}

const readyTimeoutMs = 60_000
const hopelessFailures = 4

/**
 * The V8 flags of the service's image: one thread for garbage collection, because four would occupy the cores
 * that PostgreSQL needs, and a young generation that is large enough for the objects of short sagas.
 */
const nodeOptions: Partial<Record<ServiceName, string[]>> = {
  'saga-reporter': ['--v8-pool-size=1', '--max-semi-space-size=32'],
}

/** Returns the file of a service that Node runs. */
export const mainOf = ({ root }: Settings, name: ServiceName): string =>
  join(root, 'services', name, 'dist/bundle/main.js')

/**
 * Starts a service as a child process that is restarted after a crash.
 *
 * @param givenPort unset: a free one
 */
export async function startService(
  name: ServiceName,
  settings: Settings,
  backingUrls: BackingUrls,
  notice: (line: string) => void,
  givenPort?: number,
): Promise<RunningService> {
  const port = givenPort ?? (await getFreePort())
  const command = serviceCommand(name, port, settings, backingUrls)
  const logFile = join(settings.dataDir, 'logs', `${name}.log`)
  rotateLog(logFile)
  const child = supervise({
    name,
    ...command,
    logFile,
    // A breakpoint of a developer may stop a service for any time.
    isAlive: settings.watch ? undefined : () => askLiveness(port),
    misconfiguredCode: settings.watch ? undefined : 2,
    notice,
  })
  return { name, port, process: child }
}

/** Returns the command, the folder and the environment of a service. */
export function serviceCommand(
  name: ServiceName,
  port: number,
  settings: Settings,
  backingUrls: BackingUrls,
): Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'> {
  const main = mainOf(settings, name)
  if (!existsSync(main)) throw new SolvableProblem(`${name} is not built: ${main} is missing`)
  return {
    command: process.execPath,
    args: ['--enable-source-maps', ...(nodeOptions[name] ?? []), main],
    cwd: join(settings.root, 'services', name),
    env: serviceEnvironment(name, port, settings, backingUrls),
  }
}

function serviceEnvironment(
  name: ServiceName,
  port: number,
  settings: Settings,
  { databaseUrlOf, redisUrlOf }: BackingUrls,
): NodeJS.ProcessEnv {
  const { dataDir, rootToken } = settings
  const storage = { SWITCHYARD_STORAGE_ROOT: join(dataDir, 'repositories') }
  const webhooks = { WEBHOOK_SECRET_KEYS: webhookSecretKeys(dataDir, settings.webhookSecretKeys) }
  const own: Partial<Record<ServiceName, NodeJS.ProcessEnv>> = {
    'git-api': {
      ...storage,
      ...webhooks,
      ...describeRevision(settings),
      SWITCHYARD_ROOT_TOKEN: rootToken,
      SWITCHYARD_ROOT_TOKEN_KEPT_IN: join(dataDir, 'root-token'),
    },
    worker: { ...storage, ...webhooks },
    'saga-reporter': { ...webhooks, GRPC_HOST: settings.host, GRPC_PORT: String(settings.grpcPort) },
  }
  return {
    NODE_ENV: 'development',
    // Otherwise each thread of Node would keep memory of its own. The images avoid that in the same way.
    MALLOC_ARENA_MAX: '2',
    // Node keeps the compiled code of a service there, which the next start loads.
    NODE_COMPILE_CACHE: join(dataDir, 'compiled'),
    ...settings.inherited,
    HOST: '127.0.0.1',
    PORT: String(port),
    EXTERNAL_URL: settings.externalUrl,
    ...(name === 'console' ? {} : { DATABASE_URL: databaseUrlOf(name), REDIS_URL: redisUrlOf(name) }),
    ...own[name],
  }
}

/** Returns the running commit and its time; empty for a folder that is neither a release nor a checkout. */
function describeRevision({ root, release }: Settings): NodeJS.ProcessEnv {
  if (release)
    return { SWITCHYARD_REVISION: release.revision, SWITCHYARD_REVISION_TIME: release.committed_at }
  if (!existsSync(join(root, '.git'))) return {}
  // The checkout may belong to any user.
  const { status, stdout } = spawnSync(
    'git',
    ['-c', `safe.directory=${root}`, '-C', root, 'show', '--no-patch', '--format=%H %cI', 'HEAD'],
    { encoding: 'utf8' },
  )
  const [revision, time] = stdout.trim().split(' ')
  return status === 0 ? { SWITCHYARD_REVISION: revision, SWITCHYARD_REVISION_TIME: time } : {}
}

export function makeServiceFolders(dataDir: string): void {
  for (const name of ['repositories', 'logs', 'compiled'])
    mkdirSync(join(dataDir, name), { recursive: true, mode: 0o700 })
}

/** Waits until the service is ready. Rejects with the name of the log when it does not become ready. */
export async function waitUntilReady(service: RunningService, isStopping: () => boolean): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  for (;;) {
    const state = await askReadiness(service.port)
    if (state === 'ready' || isStopping()) return
    const { logFile } = service.process
    if (service.process.isMisconfigured())
      throw new SolvableProblem(`${service.name} cannot start: ${lastFailure(logFile)} (log: ${logFile})`)
    if (service.process.failures() >= hopelessFailures || performance.now() > deadline) {
      throw new SolvableProblem(
        `${service.name} is not ready (${state}): ${lastFailure(logFile)} (log: ${logFile})`,
      )
    }
    await delay(50)
  }
}

async function askLiveness(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/-/liveness`, { signal: AbortSignal.timeout(5000) })
  await response.body?.cancel()
  return response.ok
}

async function askReadiness(port: number): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/-/readiness`, {
      signal: AbortSignal.timeout(3000),
    })
    const text = await response.text()
    return response.status === 200 ? 'ready' : text.slice(0, 200)
  } catch {
    return 'it does not answer'
  }
}
