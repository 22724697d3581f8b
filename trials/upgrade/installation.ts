import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { startGateway } from '../../ops/gateway/test/support/gateway.js'
import { startPostgres } from '../../packages/local-servers/src/postgres.js'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { startRedis } from '../../packages/local-servers/src/redis.js'
import { applyMigrations, prepareLogins } from '../../packages/local-servers/src/start/schema.js'
import {
  type BackingUrls,
  makeServiceFolders,
  type RunningService,
  type ServiceName,
  serviceNames,
  startService,
  waitUntilReady,
} from '../../packages/local-servers/src/start/services.js'
import { readSettings } from '../../packages/local-servers/src/start/settings.js'
import { getRedisServer } from '../../packages/local-servers/src/tools/servers.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'

export const root = resolve(import.meta.dirname, '../..')
/** The checkout of the previous release. Unset: this one. */
export const before = process.env.SWITCHYARD_RELEASE_BEFORE ?? root

interface Instance {
  name: ServiceName
  port: number
  grpcPort: number
  running: RunningService
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>

/**
 * Starts two of each service of the previous release behind the gateway, on a database with the migrations of
 * this checkout.
 */
export async function startInstallation() {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-upgrade-'))
  const cleanups: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
  try {
    const rootToken = `swy-${randomBytes(24).toString('hex')}`
    const backingUrls = await startBackingServices(folder, cleanups)
    const own = { httpPort: await getFreePort(), grpcPort: await getFreePort() }
    const env = {
      NODE_ENV: 'test',
      PORT: String(own.httpPort),
      SWITCHYARD_DATA: folder,
      SWITCHYARD_ROOT_TOKEN: rootToken,
      RATE_LIMIT_PER_MINUTE: '0',
    }
    makeServiceFolders(folder)
    const instances: Instance[] = []
    cleanups.push(() => Promise.all(instances.map(({ running }) => running.process.stop())))
    for (const name of [...serviceNames, ...serviceNames].sort())
      instances.push(await start(before, env, backingUrls, { name, ...(await freePorts()) }))
    const of = (name: ServiceName) => instances.filter((instance) => instance.name === name)
    const ports = Object.fromEntries(serviceNames.map((name) => [name, of(name).map(({ port }) => port)]))
    const grpcPorts = of('saga-reporter').map(({ grpcPort }) => grpcPort)
    const gateway = await startGateway({ ...ports, 'saga-reporter-grpc': grpcPorts }, undefined, own)
    cleanups.push(gateway.stop)
    return {
      url: gateway.url,
      grpcAddress: gateway.grpcAddress,
      rootToken,
      /** Replaces the instances one by one by those of this checkout. */
      async replaceEach() {
        for (const [index, instance] of instances.entries()) {
          await instance.running.process.stop()
          instances[index] = await start(root, env, backingUrls, instance)
        }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const freePorts = async () => ({ port: await getFreePort(), grpcPort: await getFreePort() })

async function startBackingServices(folder: string, cleanups: (() => unknown)[]): Promise<BackingUrls> {
  const log = () => {}
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log })
  cleanups.push(postgres.stop)
  const server = await getRedisServer(toolsFolder(root), log)
  const redis = await startRedis({ dataDir: join(folder, 'redis'), server, log })
  cleanups.push(redis.stop)
  // The path of its migration program belongs to the previous release; its command is documented.
  await execa('npm', ['run', 'db:migrate'], { cwd: before, env: { DATABASE_URL: postgres.url } })
  await applyMigrations(root, postgres.url)
  const databaseUrlOf = await prepareLogins({ ...postgres, embedded: true, kill: () => {} })
  return { databaseUrlOf, redisUrlOf: () => redis.url }
}

/** Starts a service of the checkout in `from`. */
async function start(
  from: string,
  env: { [name: string]: string },
  backingUrls: BackingUrls,
  { name, port, grpcPort }: Omit<Instance, 'running'>,
): Promise<Instance> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const settings = { ...readSettings(from, { ...inherited, ...env }, false), grpcPort }
  const running = await startService(name, settings, backingUrls, () => {}, port)
  await waitUntilReady(running, () => false)
  return { name, port, grpcPort, running }
}
