import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { createRedis } from '../../../packages/service-kit/src/redis.js'
import type { Machine } from './machines.js'
import type { Servers } from './servers.js'

/** Starts a primary on the first machine, two replicas, and three Sentinels that replace a lost primary. */
export async function startRedis(servers: Servers) {
  const { machines } = servers
  const secrets = { REDIS_PASSWORD: password(), SENTINEL_PASSWORD: password() }
  for (const machine of machines) startServer(servers, machine, secrets)
  for (const machine of machines) {
    const file = servers.configure('sentinel.conf', machine, secrets)
    servers.makeFolder(`${machine.name}/sentinel`)
    servers.start('sentinel', { command: '/usr/bin/redis-sentinel', args: [file] }, machine)
  }

  const tls = { ca: readFileSync(join(servers.tlsOf('tests'), 'ca.pem')) }
  const sentinels = machines.map(({ address }) =>
    createRedis({
      url: `rediss://:${secrets.SENTINEL_PASSWORD}@${address}:26379`,
      tls,
      onError: () => {},
      commandTimeout: 1000,
    }),
  )
  /** Returns the answers of the reachable Sentinels. */
  const ask = async (question: string): Promise<string[][]> => {
    const asked = sentinels.map((each) => each.call('SENTINEL', question, 'switchyard') as Promise<string[]>)
    const answers = await Promise.allSettled(asked)
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
  /** Returns the machine that most Sentinels name. */
  const primary = async (): Promise<Machine | undefined> => {
    const addresses = (await ask('GET-MASTER-ADDR-BY-NAME')).map(([address]) => address)
    return machines.find(({ address }) => addresses.filter((each) => each === address).length >= 2)
  }
  const isWhole = async () => {
    const [replicas, others] = await Promise.all([ask('REPLICAS'), ask('SENTINELS')])
    const connected = JSON.stringify(replicas[0] ?? '').split('"master-link-status","ok"').length - 1
    return connected === 2 && others.length === 3 && others.every((known) => known.length === 2)
  }
  await waitFor(isWhole, { what: 'the Sentinels to know all', intervalMs: 100 })

  const addresses = machines.map(({ address }) => `${address}:26379`).join()
  return {
    url: `rediss+sentinel://:${secrets.REDIS_PASSWORD}@${addresses}/switchyard?sentinel_password=${secrets.SENTINEL_PASSWORD}`,
    isWhole,
    primary,
    close() {
      for (const sentinel of sentinels) sentinel.disconnect()
    },
  }
}

const password = () => randomBytes(16).toString('hex')

function startServer(servers: Servers, machine: Machine, secrets: Record<string, string>): void {
  const file = servers.configure('redis.conf', machine, secrets)
  if (machine.name !== 'one')
    servers.write(
      `${machine.name}/redis.conf`,
      readFileSync(file, 'utf8').replace('# replicaof', 'replicaof'),
    )
  servers.makeFolder(`${machine.name}/redis`)
  servers.start('redis', { command: '/usr/bin/redis-server', args: [file] }, machine)
}
