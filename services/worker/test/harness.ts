import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { createDatabase } from '@switchyard/db'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createLogger } from '@switchyard/service-kit/observability'
import { createTestDatabase, startTestRedis } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

export const webhookSecretKeys = randomBytes(32).toString('base64')

export const silent = createLogger('test', 'silent')

/** Starts PostgreSQL, Redis and a storage root for one test file, and any number of workers on them. */
export async function startHarness() {
  const testDatabase = await createTestDatabase()
  const testRedis = await startTestRedis()
  const storageRoot = await mkdtemp(join(tmpdir(), 'switchyard-worker-'))
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  const redis = new Redis({ path: testRedis.path, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const queues: Queue[] = []
  const environment = {
    DATABASE_URL: testDatabase.urlOf('worker'),
    REDIS_URL: testRedis.urlOf('worker'),
    SWITCHYARD_STORAGE_ROOT: storageRoot,
    PORT: '0',
    LOG_LEVEL: 'silent',
    SHUTDOWN_TIMEOUT_MS: '2000',
    WEBHOOK_SECRET_KEYS: webhookSecretKeys,
  }

  return {
    database,
    redis,
    testRedis,
    storageRoot,
    environment,
    /** Address of the database with the role of saga-reporter. */
    reporterDatabaseUrl: testDatabase.urlOf('saga-reporter'),
    /** Opens the producing end of a queue. */
    queue(name: string) {
      const queue = new Queue(name, { connection: { path: testRedis.path }, prefix: jobKeyPrefix })
      queue.on('error', () => {})
      queues.push(queue)
      return queue
    },
    async startWorker(overrides: Record<string, string> = {}) {
      const context = createServiceContext('worker', 'silent')
      const { port } = await createService(configSchema.parse({ ...environment, ...overrides }), context)
      return { baseUrl: `http://127.0.0.1:${port}`, close: () => context.lifecycle.close() }
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
      redis.disconnect()
      await testRedis.stop()
      await database.close()
      await testDatabase.close()
      await rm(storageRoot, { recursive: true, force: true })
    },
  }
}
