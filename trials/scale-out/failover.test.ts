import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Traffic } from '../chaos/load/traffic.js'
import { verifyDerivedRows } from '../chaos/saga-checks.js'
import { AcknowledgedWrites } from '../support/acknowledged-writes.js'
import { apiOf } from '../support/api.js'
import { queryAll } from '../support/query-all.js'
import { type Installation, startInstallation } from './installation/installation.js'
import { type Machine, network } from './installation/machines.js'
import { pauseAround, printPauses } from './installation/pauses.js'

let installation: Installation
let writes: AcknowledgedWrites
let traffic: Traffic
let receiver: Server
/** Number of received webhooks. */
let received = 0

beforeAll(async () => {
  // Clients that write as fast as they can would exceed the rate limit.
  installation = await startInstallation({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
  writes = await AcknowledgedWrites.start(installation.remote, [
    ...(['sagas', 'batches', 'httpBatches'] as const),
    ...(['commits', 'statuses', 'pushes'] as const),
  ])
  // These clients repeat unacknowledged events, as orchestrators do.
  traffic = new Traffic({ addresses: [installation.remote.grpcAddress], callers: 4, pauseMs: 1 })
  receiver = createServer((request, response) => {
    received += 1
    request.resume()
    response.end()
  }).listen(0, network.own)
  await once(receiver, 'listening')
  const url = `http://${network.own}:${(receiver.address() as AddressInfo).port}/`
  const hook = { url, push_events: true }
  await apiOf(installation.url, installation.rootToken)('POST', '/projects/root%2Fsafe/hooks', hook)
})

afterAll(async () => {
  printPauses()
  await traffic?.abandon()
  writes?.close()
  receiver?.close()
  await installation?.stop()
})

/** Causes a failure during writes, and records how long each kind of write had to wait. */
async function drill(what: string, harm: () => unknown, isOver: () => Promise<unknown>): Promise<void> {
  const progress = async (when: string) => {
    const before = writes.counts()
    const repeated = traffic.stored
    const all = () => writes.hasProgressedSince(before) && traffic.stored > repeated + 20
    await waitFor(all, { what: `writes ${when}: ${what}`, timeoutMs: 120_000, intervalMs: 100 })
  }
  await progress('before')
  const begin = performance.now()
  const errorsBefore = [...writes.journals.values()].map(({ errors }) => errors.length)
  await harm()
  await waitFor(async () => Boolean(await isOver().catch(() => false)), {
    what: `the end of: ${what}`,
    timeoutMs: 120_000,
    intervalMs: 100,
  })
  await progress('after')
  pauseAround(what, begin, writes, errorsBefore)
}

/** Returns the machine with the virtual address; undefined while none has it. */
const addressed = () => installation.machines.find((machine) => machine.hasVirtualAddress())

function present<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what}`)
  return found
}

const isReady = async (port: number) => (await fetch(`http://127.0.0.1:${port}/-/readiness`)).ok

/** Cuts the machine with both primaries and the virtual address off, and kills all its processes at once. */
async function loseMachine(): Promise<void> {
  const { postgres, redis, servers, replicas } = installation
  const lost = present(addressed(), 'machine with the virtual address')
  expect([await postgres.primary(), await redis.primary()]).toEqual([lost, lost])
  const isElsewhere = (machine: Machine | undefined) => machine !== undefined && machine !== lost
  await drill(
    'a whole machine',
    () => servers.lose(lost),
    async () =>
      isElsewhere(installation.machines.find((machine) => machine !== lost && machine.hasVirtualAddress())) &&
      isElsewhere(await postgres.primary()) &&
      isElsewhere(await redis.primary()),
  )
  await drill(
    'a machine that comes back',
    () => servers.bringBack(lost),
    async () => {
      const ports = Object.values(replicas).flatMap((all) => all.map(({ port }) => port))
      const ready = await Promise.all(ports.map(isReady))
      return !ready.includes(false) && (await postgres.isWhole()) && (await redis.isWhole())
    },
  )
}

async function killRedis(): Promise<void> {
  const { redis, servers } = installation
  const before = present(await redis.primary(), 'primary Redis')
  const killed = servers.processOf('redis', before)
  await drill(
    'Redis primary',
    () => killed.kill(),
    async () => ![undefined, before].includes(await redis.primary()),
  )
  const webhooks = received
  await waitFor(() => received > webhooks + 3, {
    what: 'webhooks after the failover of Redis',
    intervalMs: 100,
  })
  await killed.restart()
  await waitFor(redis.isWhole, { what: 'Redis to have its replicas again', intervalMs: 100 })
}

it('the loss of a machine, of servers and of services loses no acknowledged write, and recovery needs no operator', async () => {
  const { postgres, replicas, servers } = installation
  await loseMachine()

  const before = await postgres.primary()
  await drill('PostgreSQL primary', postgres.killPrimary, async () => {
    const now = await postgres.primary()
    return now !== undefined && now !== before && (await postgres.isWhole())
  })
  await killRedis()

  const holder = present(addressed(), 'machine with the virtual address')
  const haproxy = servers.processOf('haproxy', holder)
  const pid = present(haproxy.pid(), 'HAProxy')
  await drill(
    'HAProxy',
    () => process.kill(pid, 'SIGKILL'),
    async () => addressed() !== undefined && haproxy.pid() !== undefined,
  )

  for (const [name, [replica]] of Object.entries(replicas)) {
    const { port, process: running } = present(replica, name)
    await drill(
      `one ${name}`,
      () => process.kill(running.pid() ?? 0, 'SIGKILL'),
      () => isReady(port),
    )
  }

  await traffic.stop()
  await writes.stopAndExpectAll()
  expect([...traffic.results].filter(([, { outcome }]) => outcome !== 'stored')).toEqual([])
  const rows = await queryAll(
    postgres.url,
    "SELECT id, status || ' ' || coalesce(outcome, 'null') AS final FROM sagas WHERE service_name = 'booking'",
  )
  const finals = new Map(rows.map(({ id, final }) => [id, final]))
  expect([...traffic.finals.keys()].map((id) => [id, finals.get(id)])).toEqual([...traffic.finals])
  expect(await verifyDerivedRows(postgres.url)).toEqual([])
})
