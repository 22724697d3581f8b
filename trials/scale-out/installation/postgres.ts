import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { findFreePort } from '../../../packages/dev-env/src/process/free-port.js'
import type { SupervisedProcess } from '../../../packages/dev-env/src/process/supervised-process.js'
import { postgresUser, root, type Servers } from './servers.js'

const nodeNames = ['one', 'two'] as const
type NodeName = (typeof nodeNames)[number]

interface PostgresNode {
  name: NodeName
  port: number
  patroniPort: number
  dataDir: string
  process: SupervisedProcess
}

interface Member {
  name: NodeName
  role: 'leader' | 'sync_standby' | 'replica'
  state: string
  lag?: number | 'unknown'
}

/** A primary and a synchronous standby under Patroni and etcd, behind the one address of HAProxy. */
export async function startPostgresPair(servers: Servers) {
  const etcd = await startEtcd(servers)
  const passwords = { SUPERUSER_PASSWORD: password(), REPLICATOR_PASSWORD: password() }
  const nodes: PostgresNode[] = []
  for (const name of nodeNames) nodes.push(await startNode(servers, name, { ETCD: etcd, ...passwords }))
  const port = await startHaproxy(servers, nodes)

  const members = async (): Promise<Member[]> => {
    for (const { patroniPort } of nodes) {
      try {
        const response = await fetch(`http://127.0.0.1:${patroniPort}/cluster`, {
          signal: AbortSignal.timeout(2000),
        })
        return ((await response.json()) as { members: Member[] }).members
      } catch {
        // The other node answers for both.
      }
    }
    return []
  }
  const nodeOf = (name: NodeName | undefined) => nodes.find((node) => node.name === name)
  const primary = async () => nodeOf((await members()).find(({ role }) => role === 'leader')?.name)
  /** A primary whose writes a standby confirms. */
  const isWhole = async () => {
    const found = await members()
    return ['leader', 'sync_standby'].every((role) => found.some((member) => member.role === role))
  }
  await waitFor(isWhole, {
    what: 'PostgreSQL and its synchronous standby',
    timeoutMs: 120_000,
    intervalMs: 100,
  })

  return {
    /** Of the superuser, through HAProxy. */
    url: `postgresql://postgres:${passwords.SUPERUSER_PASSWORD}@127.0.0.1:${port}/postgres`,
    isWhole,
    primaryName: async () => (await primary())?.name,
    /** Kills the primary server; its Patroni lives. @returns the name of the node */
    async killPrimary(): Promise<string> {
      const node = await primary()
      if (!node) throw new Error('there is no primary')
      const pid = Number(readFileSync(join(node.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
      process.kill(pid, 'SIGKILL')
      return node.name
    },
  }
}

const password = () => randomBytes(16).toString('hex')

async function startEtcd(servers: Servers): Promise<string> {
  const client = `127.0.0.1:${await findFreePort()}`
  const peer = `http://127.0.0.1:${await findFreePort()}`
  const args = [
    ...['--name', 'one', '--data-dir', servers.makeFolder('etcd')],
    ...['--listen-client-urls', `http://${client}`, '--advertise-client-urls', `http://${client}`],
    ...[
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `one=${peer}`,
    ],
  ]
  servers.start('etcd', { command: '/usr/bin/etcd', args })
  await waitFor(
    () =>
      fetch(`http://${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { what: 'etcd', intervalMs: 100 },
  )
  return client
}

async function startNode(
  servers: Servers,
  name: NodeName,
  variables: Record<string, string>,
): Promise<PostgresNode> {
  const owner = postgresUser(servers.folder)
  const [port, patroniPort] = [await findFreePort(), await findFreePort()]
  const folder = servers.makeFolder(`postgres-${name}`, owner)
  const dataDir = join(folder, 'data')
  const file = servers.configure(
    'patroni.yml',
    `postgres-${name}/patroni.yml`,
    {
      ...variables,
      NAME: name,
      PATRONI: `127.0.0.1:${patroniPort}`,
      POSTGRES: `127.0.0.1:${port}`,
      NETWORK: '127.0.0.1/32',
      DATA: dataDir,
      SOCKETS: folder,
      BIN: '/usr/lib/postgresql/15/bin',
    },
    owner,
  )
  const command = { command: '/usr/bin/patroni', args: [file] }
  // The home of the user may be out of its reach, and holds nothing that is needed.
  const process = servers.start(`postgres-${name}`, owner?.asUser(command) ?? command, { HOME: folder })
  return { name, port, patroniPort, dataDir, process }
}

async function startHaproxy(servers: Servers, nodes: PostgresNode[]): Promise<number> {
  const port = await findFreePort()
  const env: Record<string, string> = { LISTEN: `127.0.0.1:${port}` }
  for (const node of nodes) {
    const name = node.name.toUpperCase()
    env[`POSTGRES_${name}`] = `127.0.0.1:${node.port}`
    env[`PATRONI_HOST_${name}`] = '127.0.0.1'
    env[`PATRONI_PORT_${name}`] = String(node.patroniPort)
  }
  const args = ['-db', '-f', join(root, 'ops/deploy/highly-available/haproxy.cfg')]
  servers.start('haproxy', { command: '/usr/sbin/haproxy', args }, env)
  return port
}
