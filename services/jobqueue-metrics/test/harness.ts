import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { createDatabase, type Database } from '@switchyard/db'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import {
  bundled,
  createTestDatabase,
  createToken,
  createUser,
  programEnvironment,
  startTestRedis,
} from '@switchyard/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

/** Keys of the registry of Switchyard's own workers. */
export const keys = registryKeys(jobKeyPrefix)

async function createTokens(database: Database) {
  const administrator = await createUser(database, { admin: true })
  const user = await createUser(database)
  return {
    admin: (await createToken(database, administrator)).secret,
    adminReader: (await createToken(database, administrator, { scopes: ['read_api'] })).secret,
    adminPusher: (await createToken(database, administrator, { scopes: ['write_repository'] })).secret,
    scraper: (await createToken(database, user, { scopes: ['read_metrics'] })).secret,
    user: (await createToken(database, user)).secret,
    sagaReader: (await createToken(database, user, { scopes: ['read_sagas'] })).secret,
    jobManager: (await createToken(database, user, { scopes: ['manage_jobs'] })).secret,
    unknown: 'glpat-unknown',
  }
}

/** Starts the real worker service as a separate process. */
async function startWorker(backingUrls: { DATABASE_URL: string; REDIS_URL: string }, clockAheadMs: number) {
  const storageRoot = await mkdtemp(join(tmpdir(), 'switchyard-metrics-'))
  const env = {
    ...programEnvironment(),
    ...backingUrls,
    SWITCHYARD_STORAGE_ROOT: storageRoot,
    WORKER_TAG: 'test',
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const clock = `data:text/javascript,const now = Date.now; Date.now = () => now() + ${clockAheadMs}`
  const args = ['--import', clock, await bundled('services/worker')]
  const child: ChildProcess = spawn(process.execPath, args, { env, stdio: 'ignore' })
  const exited = once(child, 'exit')
  return {
    pid: child.pid,
    async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
      child.kill(signal)
      await exited
      await rm(storageRoot, { recursive: true, force: true })
    },
  }
}

/** Starts the service on its own PostgreSQL database and Redis, with tokens of every kind of caller. */
export async function startHarness(overridesFor: (redisUrl: string) => Record<string, string> = () => ({})) {
  const testDatabase = await createTestDatabase()
  const testRedis = await startTestRedis()
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  const redis = new Redis({ path: testRedis.path, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const queues: Queue[] = []
  const context = createServiceContext('jobqueue-metrics', 'silent')
  const config = configSchema.parse({
    DATABASE_URL: testDatabase.urlOf('jobqueue-metrics'),
    REDIS_URL: testRedis.urlOf('jobqueue-metrics'),
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    JOBQUEUE_CACHE_MS: '0',
    SHUTDOWN_TIMEOUT_MS: '2000',
    JOBQUEUE_HISTORY: 'false',
    ...overridesFor(testRedis.urlOf('jobqueue-metrics')),
  })
  const { port } = await createService(config, context)
  const baseUrl = `http://127.0.0.1:${port}`

  const tokens = await createTokens(database)
  const get = (who: keyof typeof tokens | 'guest', path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (who !== 'guest') headers.set('PRIVATE-TOKEN', tokens[who])
    return fetch(`${baseUrl}/api/v4${path}`, { ...init, headers })
  }

  return {
    baseUrl,
    database,
    tokens,
    redis,
    testRedis,
    get,
    async metrics(path = '/jobqueue/compound_metrics') {
      const response = await get('admin', path)
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as Metrics
    },
    /** Creates a real queue and registers it, as a worker does when it serves the queue. */
    async queue(name: string) {
      const queue = new Queue(name, { connection: { path: testRedis.path }, prefix: jobKeyPrefix })
      queue.on('error', () => {})
      queues.push(queue)
      await redis.sadd(keys.queues, name)
      return queue
    },
    /** Starts the real worker service as a separate process, with a clock that may be wrong. */
    startWorker: ({ clockAheadMs = 0 } = {}) =>
      startWorker(
        { DATABASE_URL: testDatabase.urlOf('worker'), REDIS_URL: testRedis.urlOf('worker') },
        clockAheadMs,
      ),
    async close() {
      await context.lifecycle.close()
      await Promise.all(queues.map((queue) => queue.close()))
      redis.disconnect()
      await testRedis.stop()
      await database.close()
      await testDatabase.close()
    },
  }
}

export interface Metrics {
  queues: Record<string, { backlog: number; latency: number; processed?: number | null }>
  processes: {
    hostname: string
    pid: number
    tag: string
    started_at: string
    queues: string[]
    labels: string[]
    concurrency: number
    busy: number
  }[]
  jobs: {
    processed: number
    failed: number
    enqueued: number
    scheduled: number
    retry: number
    dead: number
  }
}
