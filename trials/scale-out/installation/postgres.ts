import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { waitFor } from '@switchyard/testing'
import { type Machine, type MachineName, network } from './machines.js'
import type { Servers } from './servers.js'
import { tunnelPort } from './tunnels.js'

interface Member {
  name: MachineName
  role: 'leader' | 'sync_standby' | 'replica'
  state: string
}

const patroniPort = 8008

/** Starts a primary on the first machine, a synchronous and another standby, with Patroni and three etcd. */
export async function startPostgres(servers: Servers) {
  const { machines } = servers
  const passwords = { SUPERUSER_PASSWORD: password(), REPLICATOR_PASSWORD: password() }
  for (const machine of machines) startEtcd(servers, machine)

  const members = async (): Promise<Member[]> => {
    for (const machine of machines) {
      try {
        const response = await fetch(`http://127.0.0.1:${tunnelPort(machine, patroniPort)}/cluster`, {
          signal: AbortSignal.timeout(2000),
        })
        return ((await response.json()) as { members: Member[] }).members
      } catch {
        // Another machine answers for the cluster.
      }
    }
    return []
  }
  const primary = async () => {
    const leader = (await members()).find(({ role, state }) => role === 'leader' && state === 'running')
    return machines.find(({ name }) => name === leader?.name)
  }
  /** Returns whether there are a primary, a standby that confirms its writes, and another standby. */
  const isWhole = async () => {
    const found = (await members()).filter(({ state }) => ['running', 'streaming'].includes(state))
    return ['leader', 'sync_standby', 'replica'].every((role) => found.some((each) => each.role === role))
  }
  const [first, ...others] = machines
  if (first) startPatroni(servers, first, passwords)
  await waitFor(primary, { what: 'the first PostgreSQL', timeoutMs: 120_000, intervalMs: 100 })
  for (const machine of others) startPatroni(servers, machine, passwords)
  await waitFor(isWhole, { what: 'three PostgreSQL', timeoutMs: 120_000, intervalMs: 100 })

  return {
    /** Address for the superuser, through HAProxy at the virtual address. */
    url: `postgresql://postgres:${passwords.SUPERUSER_PASSWORD}@${network.virtual}:5432/postgres?sslmode=verify-full&sslrootcert=${join(servers.tlsOf('tests'), 'ca.pem')}`,
    isWhole,
    primary,
    /** Kills the primary server, but not its Patroni. */
    async killPrimary(): Promise<void> {
      const machine = await primary()
      if (!machine) throw new Error('there is no primary')
      const file = join(servers.folder, machine.name, 'postgresql/data/postmaster.pid')
      process.kill(Number(readFileSync(file, 'utf8').split('\n', 1)[0]), 'SIGKILL')
    },
  }
}

const password = () => randomBytes(16).toString('hex')

function startEtcd(servers: Servers, machine: Machine): void {
  const env = parseEnv(readFileSync(servers.configure('etcd.env', machine), 'utf8'))
  servers.makeFolder(`${machine.name}/etcd`)
  servers.start('etcd', { command: '/usr/bin/etcd', args: [], env }, machine)
}

function startPatroni(servers: Servers, machine: Machine, passwords: Record<string, string>): void {
  const owner = servers.postgresUser
  const folder = servers.makeFolder(`${machine.name}/postgresql`, owner)
  const file = servers.configure('patroni.yml', machine, passwords, owner)
  const command = { command: '/usr/bin/patroni', args: [file] }
  // The user may have no access to its home folder, which is not needed.
  servers.start('postgres', { ...(owner?.asUser(command) ?? command), env: { HOME: folder } }, machine)
}
