import type { SupervisedProcess } from '../../../packages/local-servers/src/process/supervised-process.js'
import {
  type BackingUrls,
  makeServiceFolders,
  type ServiceName,
  serviceCommand,
  waitUntilReady,
} from '../../../packages/local-servers/src/start/services.js'
import { readSettings } from '../../../packages/local-servers/src/start/settings.js'
import type { Machine } from './machines.js'
import { root, type Servers } from './servers.js'
import { gatewayPorts, tunnelPort } from './tunnels.js'

export interface Replica {
  name: ServiceName
  machine: Machine
  /** Port on loopback. */
  port: number
  process: SupervisedProcess
}

/** The ports of haproxy.cfg. */
const ports: Record<ServiceName, number> = {
  'git-api': 8081,
  'saga-reporter': 8082,
  'admin-broadcast': 8083,
  'jobqueue-metrics': 8084,
  console: 8085,
  worker: 8086,
}
const reporterGrpcPort = 8087

interface ServicesOptions {
  single?: boolean
  env?: { [name: string]: string }
  dataDir: string
  rootToken: string
  backingUrls: BackingUrls
}

/** Starts each service on the first two machines, and a worker on the third; with `single`, one of each. */
export async function startServices(
  servers: Servers,
  { single, env, dataDir, rootToken, backingUrls }: ServicesOptions,
): Promise<Record<ServiceName, Replica[]>> {
  makeServiceFolders(dataDir)
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const given = {
    ...inherited,
    NODE_ENV: 'test',
    PORT: String(gatewayPorts.http),
    SWITCHYARD_DATA: dataDir,
    SWITCHYARD_ROOT_TOKEN: rootToken,
    NODE_EXTRA_CA_CERTS: `${servers.tlsOf('tests')}/ca.pem`,
    // The webhook receivers of the tests are on a machine of the same network.
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    SWITCHYARD_TRACE_URL: 'https://tempo.example.com/trace/{trace_id}',
    ...env,
  }
  const settings = { ...readSettings(root, given, false), grpcPort: reporterGrpcPort }
  const replicas = {} as Record<ServiceName, Replica[]>
  for (const [name, port] of Object.entries(ports) as [ServiceName, number][]) {
    const machines = servers.machines.slice(0, single ? 1 : name === 'worker' ? 3 : 2)
    replicas[name] = machines.map((machine) => ({
      name,
      machine,
      port: tunnelPort(machine, port),
      process: servers.start(name, serviceCommand(name, port, settings, backingUrls), machine),
    }))
  }
  await Promise.all(
    Object.values(replicas).flatMap((all) => all.map((one) => waitUntilReady(one, () => false))),
  )
  return replicas
}
