import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  gatewayFolder,
  gatewayTools,
  type Listening,
  startGateway,
} from '../../../ops/gateway/test/support/gateway.js'
import { findFreePort } from '../../../packages/dev-env/src/process/free-port.js'
import { applyMigrations, prepareLogins } from '../../../packages/dev-env/src/start/schema.js'
import {
  type BackingUrls,
  makeServiceFolders,
  type RunningService,
  type ServiceName,
  serviceNames,
  startService,
  waitUntilReady,
} from '../../../packages/dev-env/src/start/services.js'
import { readSettings } from '../../../packages/dev-env/src/start/settings.js'
import { findRecentNginx } from '../../../packages/dev-env/src/tools/servers.js'
import { ensureDebianPackages } from '../../support/debian-packages.js'
import { startPostgresPair } from './postgres.js'
import { startRedisPair } from './redis.js'
import { root, Servers } from './servers.js'

export interface Replica extends RunningService {
  /** Of saga-reporter. */
  grpcPort: number
}

interface InstallationOptions {
  single?: boolean
  env?: { [name: string]: string }
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>

/** Packages of Debian, each with a program of it. */
const packages = {
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  'redis-server': '/usr/bin/redis-server',
  'redis-sentinel': '/usr/bin/redis-sentinel',
}

/**
 * Two of each service and three workers, on a PostgreSQL and a Redis that fail over, behind nginx; all on loopback, with data in a
 * temporary folder.
 *
 * @param options `single`: one of each service; `env`: for all services
 */
export async function startInstallation(options: InstallationOptions = {}) {
  await ensureDebianPackages(packages)
  const servers = new Servers(mkdtempSync(join(tmpdir(), 'switchyard-scale-out-')))
  const cleanups: (() => unknown)[] = [
    () => rmSync(servers.folder, { recursive: true, force: true }),
    () => servers.stop(),
  ]
  const stop = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
  try {
    const [postgres, redis] = await Promise.all([startPostgresPair(servers), startRedisPair(servers)])
    cleanups.push(redis.close)
    await applyMigrations(root, postgres.url)
    const databaseUrlOf = await prepareLogins({
      url: postgres.url,
      embedded: true,
      stop: async () => {},
      kill: () => {},
    })
    const backingUrls = { databaseUrlOf, redisUrlOf: () => redis.url }
    const dataDir = servers.makeFolder('data')
    const rootToken = `swy-${randomBytes(24).toString('hex')}`
    const [httpPort, grpcPort] = [await findFreePort(), await findFreePort()]
    const replicas = await startReplicas({ ...options, dataDir, rootToken, httpPort, backingUrls })
    cleanups.push(() =>
      Promise.all(Object.values(replicas).flatMap((all) => all.map((one) => one.process.stop()))),
    )
    const gateway = await startGateway(portsOf(replicas), await shippedListening(), { httpPort, grpcPort })
    cleanups.push(gateway.stop)
    return {
      url: gateway.url,
      grpcAddress: gateway.grpcAddress,
      rootToken,
      dataDir,
      postgres,
      redis,
      replicas,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface ReplicasOptions extends InstallationOptions {
  dataDir: string
  rootToken: string
  httpPort: number
  backingUrls: BackingUrls
}

async function startReplicas(options: ReplicasOptions): Promise<Record<ServiceName, Replica[]>> {
  const { dataDir, rootToken, httpPort, backingUrls, single } = options
  makeServiceFolders(dataDir)
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const env = {
    ...inherited,
    NODE_ENV: 'test',
    PORT: String(httpPort),
    SWITCHYARD_DATA: dataDir,
    SWITCHYARD_ROOT_TOKEN: rootToken,
    // The receivers of the tests are on this machine.
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    SWITCHYARD_TRACE_URL: 'https://tempo.example.com/trace/{trace_id}',
    ...options.env,
  }
  const settings = readSettings(root, env, false)
  const replicas = {} as Record<ServiceName, Replica[]>
  for (const name of serviceNames) {
    replicas[name] = []
    const count = single ? 1 : name === 'worker' ? 3 : 2
    for (let number = 0; number < count; number += 1) {
      const grpcPort = await findFreePort()
      const started = await startService(name, { ...settings, grpcPort }, backingUrls, () => {})
      replicas[name].push({ ...started, grpcPort })
    }
  }
  await Promise.all(
    Object.values(replicas).flatMap((all) => all.map((one) => waitUntilReady(one, () => false))),
  )
  return replicas
}

function portsOf(replicas: Record<ServiceName, Replica[]>) {
  const http = Object.entries(replicas).map(([name, all]) => [name, all.map(({ port }) => port)])
  return {
    ...(Object.fromEntries(http) as Record<ServiceName, number[]>),
    'saga-reporter-grpc': replicas['saga-reporter'].map(({ grpcPort }) => grpcPort),
  }
}

/** What the shipped gateway listens with; undefined where no nginx knows it. */
async function shippedListening(): Promise<Listening | undefined> {
  const program = await findRecentNginx(gatewayTools, () => {})
  const read = (name: string) => readFileSync(join(gatewayFolder, name), 'utf8')
  return program === null
    ? undefined
    : { program, http: read('listen-http.conf'), grpc: read('listen-grpc.conf') }
}
