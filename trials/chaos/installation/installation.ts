import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { startRedis } from '../../../packages/local-servers/src/redis.js'
import type { ServiceName } from '../../../packages/local-servers/src/start/services.js'
import { getRedisServer } from '../../../packages/local-servers/src/tools/servers.js'
import { toolsFolder } from '../../../packages/local-servers/src/tools/tools-folder.js'
import { startLink } from '../../../services/saga-reporter/test/cuttable-link.js'
import { type Cable, layCable } from './cable.js'
import { mountDisk } from './disk.js'
import { startServer } from './server.js'
import { type Machine, type Service, startService } from './service.js'

const toolsDir = toolsFolder(resolve(import.meta.dirname, '../../..'))

/**
 * The services of each machine. Both machines have the services that can have replicas; those that schedule
 * work or serve files run once.
 */
const placed: Record<number, ServiceName[]> = {
  1: ['git-api', 'saga-reporter', 'worker', 'admin-broadcast', 'console'],
  2: ['git-api', 'saga-reporter', 'worker', 'admin-broadcast', 'jobqueue-metrics'],
}

export type Link = Awaited<ReturnType<typeof startLink>>
type Links = Record<'database' | 'redis', Link>
export type Installation = Awaited<ReturnType<typeof startInstallation>>

/** The functions that stop the parts of an installation, which run in reverse order. */
class Parts {
  readonly cleanups: (() => unknown)[] = []

  keep<Part>(part: Part, cleanup: (part: Part & {}) => unknown): Part {
    if (part) this.cleanups.push(() => cleanup(part))
    return part
  }

  async stop(): Promise<void> {
    for (const cleanup of this.cleanups.reverse()) await cleanup()
  }
}

/**
 * Starts two of each service on one storage, with PostgreSQL and Redis on separate disks. Services reach both
 * through links that can fail. The services numbered 2 are on a machine behind a cable when this process has
 * the rights to create one.
 *
 * @param diskMib size of the disk of PostgreSQL
 */
export async function startInstallation(diskMib: number) {
  const parts = new Parts()
  try {
    return await startAll(parts, diskMib)
  } catch (error) {
    await parts.stop()
    throw error
  }
}

async function startAll(parts: Parts, diskMib: number) {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-chaos-'))
  chmodSync(folder, 0o711)
  const cable = parts.keep(layCable(), (laid) => laid.remove())
  const servers = await openServers(parts, folder, diskMib)
  const { disks, redis, database } = servers
  const storageRoot = join(disks.repositories?.folder ?? folder, 'repositories')
  const logs = join(folder, 'logs')
  for (const each of [storageRoot, logs]) mkdirSync(each)
  const rootToken = randomBytes(20).toString('hex')
  const notices: string[] = []
  const notice = (line: string) => notices.push(line)
  const common = environmentOf(storageRoot, rootToken)
  const links: Links[] = []
  const services: Service[] = []
  for (const machine of machinesOf(cable)) {
    // The links are on this side of the cable.
    const host = machine.number === 2 && cable ? cable.nearAddress : '127.0.0.1'
    const to: Links = {
      database: parts.keep(await startLink(database.url, host), (link) => link.close()),
      redis: parts.keep(await startLink(redis.url, host), (link) => link.close()),
    }
    links.push(to)
    for (const name of placed[machine.number] ?? []) {
      const env: Record<string, string> = { ...common, REDIS_URL: to.redis.url }
      if (name !== 'console') env.DATABASE_URL = to.database.by(database.urlOf(name))
      const service = await startService({ name, machine, env, logs, notice })
      services.push(parts.keep(service, ({ process }) => process.kill()))
    }
  }
  const notReady = () => namesOfUnready(services)
  await waitFor(async () => (await notReady()).length === 0, {
    what: 'every service to be ready',
    timeoutMs: 120_000,
    intervalMs: 100,
  })
  return {
    folder,
    ...servers,
    cable,
    links,
    services,
    /** Notices of the supervisor. */
    notices,
    rootToken,
    storageRoot,
    databaseUrl: database.url,
    /** Address of this side of the cable, for servers that services call. */
    nearAddress: cable?.nearAddress ?? '127.0.0.1',
    notReady,
    servicesOf: (name: string) => services.filter((service) => service.name === name),
    setClock({ clockFile, signal }: Service, aheadSeconds: number) {
      writeFileSync(clockFile, String(aheadSeconds))
      signal('SIGUSR2')
    },
    /** @param keepFolder true: the folder with the logs is kept */
    async stop(keepFolder: boolean) {
      await parts.stop()
      if (!keepFolder) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openServers(parts: Parts, folder: string, diskMib: number) {
  const disk = (mib: number) => parts.keep(mountDisk(mib), (mounted) => mounted.unmount())
  const disks = { database: disk(diskMib), repositories: disk(256), redis: disk(128) }
  const server = parts.keep(await startServer(disks.database?.folder), (started) => started.stop())
  const database = await server.createDatabase()
  const redis = parts.keep(
    await startRedis({
      dataDir: join(disks.redis?.folder ?? folder, 'redis'),
      server: await getRedisServer(toolsDir),
      log: () => {},
    }),
    (started) => started.stop(),
  )
  return { disks, server, database, redis }
}

const environmentOf = (storageRoot: string, rootToken: string) => ({
  RATE_LIMIT_PER_MINUTE: '0',
  SWITCHYARD_STORAGE_ROOT: storageRoot,
  SWITCHYARD_ROOT_TOKEN: rootToken,
  WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  SAGA_AUTH: 'none',
  SAGA_AUTH_NONE_ON_NETWORK: 'true',
  EXTERNAL_URL: 'http://localhost',
})

async function namesOfUnready(services: Service[]): Promise<string[]> {
  const states = await Promise.all(services.map((service) => service.isReady()))
  return services.filter((_, index) => !states[index]).map(({ process }) => process.name)
}

function machinesOf(cable: Cable | null): Machine[] {
  const here: Machine = { number: 1, address: '127.0.0.1', onMachine: (command) => command }
  const far = cable ? { address: cable.farAddress, onMachine: cable.onMachine } : {}
  return [here, { ...here, ...far, number: 2 }]
}
