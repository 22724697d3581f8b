import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { gatewayTools } from '../../../ops/gateway/test/support/gateway.js'
import { applyMigrations, prepareLogins } from '../../../packages/local-servers/src/start/schema.js'
import { findRecentNginx } from '../../../packages/local-servers/src/tools/servers.js'
import { startGateways } from './gateways.js'
import { layNetwork, network } from './machines.js'
import { startPostgres } from './postgres.js'
import { startRedis } from './redis.js'
import { root, Servers } from './servers.js'
import { startServices } from './services.js'
import { gatewayPorts, startTunnels } from './tunnels.js'

interface InstallationOptions {
  single?: boolean
  env?: { [name: string]: string }
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>

/**
 * Starts three machines with the files of ops/deploy/highly-available: PostgreSQL, etcd, Redis, Sentinel and
 * HAProxy on each, gateway and services on two, a worker on the third. The repositories are in one folder,
 * which represents a shared file system.
 *
 * @param options `single`: one of each service; `env`: for all services
 */
export async function startInstallation(options: InstallationOptions = {}) {
  const nginx = await findRecentNginx(gatewayTools, () => {})
  if (nginx === null) throw new Error('there is no nginx for the files of the gateway')
  const { machines, remove } = layNetwork()
  const servers = new Servers(mkdtempSync(join(tmpdir(), 'switchyard-scale-out-')), machines)
  const cleanups: (() => unknown)[] = [
    () => rmSync(servers.folder, { recursive: true, force: true }),
    remove,
    () => servers.stop(),
  ]
  const stop = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
  try {
    startTunnels(servers)
    await startGateways(servers, nginx)
    const [postgres, redis] = await Promise.all([startPostgres(servers), startRedis(servers)])
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
    const replicas = await startServices(servers, { ...options, dataDir, rootToken, backingUrls })
    // HAProxy sends nothing to a replica before it has passed its checks.
    const readiness = `http://${network.virtual}:${gatewayPorts.http}/-/git-api/readiness`
    const isReached = async () => (await fetch(readiness).catch(() => null))?.ok === true
    await waitFor(isReached, { what: 'git-api behind the gateway', intervalMs: 100 })
    return {
      url: `http://127.0.0.1:${gatewayPorts.http}`,
      grpcAddress: `127.0.0.1:${gatewayPorts.grpc}`,
      /** The same services at the virtual address, as clients on other machines reach them. */
      remote: {
        url: `http://${network.virtual}:${gatewayPorts.http}`,
        grpcAddress: `${network.virtual}:${gatewayPorts.grpc}`,
        rootToken,
      },
      rootToken,
      dataDir,
      postgres,
      redis,
      replicas,
      machines,
      servers,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
