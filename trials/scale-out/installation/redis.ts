import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { findFreePort } from '../../../packages/dev-env/src/process/free-port.js'
import type { SupervisedProcess } from '../../../packages/dev-env/src/process/supervised-process.js'
import { createRedis } from '../../../packages/service-kit/src/redis.js'
import type { Servers } from './servers.js'

/** A primary, a replica, and three Sentinels that replace the primary. */
export async function startRedisPair(servers: Servers) {
  const password = randomBytes(16).toString('hex')
  const ports = [await findFreePort(), await findFreePort()] as const
  const processes = new Map<number, SupervisedProcess>()
  for (const port of ports) {
    const replica = port === ports[1] ? ['--replicaof', `127.0.0.1 ${ports[0]}`] : []
    const args = [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', servers.makeFolder(`redis-${port}`)],
      ...['--requirepass', password, '--masterauth', password, '--appendonly', 'yes', '--save', ''],
      ...['--repl-diskless-sync-delay', '0', ...replica],
    ]
    processes.set(port, servers.start(`redis-${port}`, { command: '/usr/bin/redis-server', args }))
  }
  const sentinels = await startSentinels(servers, ports[0], password)

  const sentinel = createRedis({ url: `redis://127.0.0.1:${sentinels[0]}`, onError: () => {} })
  const ask = (question: string) => sentinel.call('SENTINEL', question, 'switchyard') as Promise<string[]>
  const primaryPort = async () => Number((await ask('GET-MASTER-ADDR-BY-NAME'))[1])
  const isWhole = async () => {
    const [replicas, others] = await Promise.all([ask('REPLICAS'), ask('SENTINELS')])
    return JSON.stringify(replicas).includes('"master-link-status","ok"') && others.length === 2
  }
  await waitFor(() => isWhole().catch(() => false), { what: 'the Sentinels to know all', intervalMs: 100 })

  return {
    url: `redis+sentinel://:${password}@${sentinels.map((port) => `127.0.0.1:${port}`).join()}/switchyard`,
    isWhole,
    primaryPort,
    /** Kills the primary, and keeps it down until it is to come back. */
    async killPrimary() {
      const killed = processes.get(await primaryPort())
      killed?.kill()
      return { comeBack: () => killed?.restart() }
    },
    close: () => sentinel.disconnect(),
  }
}

async function startSentinels(servers: Servers, primary: number, password: string): Promise<number[]> {
  const ports: number[] = []
  for (let number = 1; number <= 3; number += 1) {
    const port = await findFreePort()
    const name = `sentinel-${number}`
    const file = servers.configure('sentinel.conf', join(name, 'sentinel.conf'), {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA: servers.makeFolder(name),
      PRIMARY_HOST: '127.0.0.1',
      PRIMARY_PORT: String(primary),
      REDIS_PASSWORD: password,
    })
    servers.start(name, { command: '/usr/bin/redis-sentinel', args: [file] })
    ports.push(port)
  }
  return ports
}
