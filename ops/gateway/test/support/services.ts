import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, getFreePort, startTestRedis } from '@switchyard/testing'
import { startService } from './service-process.js'

const usual = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics'] as const
export type ServiceName = (typeof usual)[number] | 'worker' | 'console'

/** Starts services behind the gateway, each as its own process, on one new database. */
export async function startServices(
  given: Record<string, string> = {},
  names: readonly ServiceName[] = usual,
) {
  const database = await createTestDatabase()
  const redis = await startTestRedis()
  const storage = await mkdtemp(join(tmpdir(), 'switchyard-storage-'))
  const rootToken = `root-${randomBytes(20).toString('hex')}`
  const grpcPort = await getFreePort()
  const env = {
    SWITCHYARD_STORAGE_ROOT: storage,
    SWITCHYARD_ROOT_TOKEN: rootToken,
    GRPC_PORT: String(grpcPort),
    GRPC_TRUSTED_PROXIES: 'loopback',
    ...given,
  }
  const processes = await Promise.all(
    names.map((name) =>
      startService(
        name,
        name === 'console'
          ? {}
          : { ...env, DATABASE_URL: database.urlOf(name), REDIS_URL: redis.urlOf(name) },
      ),
    ),
  )
  const httpPorts = Object.fromEntries(names.map((name, index) => [name, processes[index]?.port]))
  return {
    rootToken,
    ports: { ...(httpPorts as Record<ServiceName, number>), 'saga-reporter-grpc': grpcPort },
    async stop() {
      await Promise.all(processes.map((service) => service.stop()))
      await redis.stop()
      await database.close()
      await rm(storage, { recursive: true, force: true })
    },
  }
}
