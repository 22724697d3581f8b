import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Traffic } from '../chaos/load/traffic.js'
import { verifyDerivedRows } from '../chaos/saga-checks.js'
import { AcknowledgedWrites } from '../support/acknowledged-writes.js'
import { queryAll } from '../support/query-all.js'
import { type Installation, startInstallation } from './installation/installation.js'
import { pauseAround, printPauses } from './installation/pauses.js'

let installation: Installation
let writes: AcknowledgedWrites
let traffic: Traffic
let receiver: Server
/** Webhooks that came. */
let received = 0

beforeAll(async () => {
  // Clients that write as fast as they can come to the limit of requests.
  installation = await startInstallation({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
  writes = await AcknowledgedWrites.start(installation, [
    ...(['sagas', 'batches', 'httpBatches'] as const),
    ...(['commits', 'statuses', 'pushes'] as const),
  ])
  // Clients of this kind repeat what was not acknowledged, as orchestrators do.
  traffic = new Traffic({ addresses: [installation.grpcAddress], callers: 4, pauseMs: 1 })
  receiver = createServer((request, response) => {
    received += 1
    request.resume()
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const answer = await fetch(`${installation.url}/api/v4/projects/root%2Fsafe/hooks`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': installation.rootToken },
    body: new URLSearchParams({ url, push_events: 'true' }),
  })
  expect(answer.status).toBe(201)
})

afterAll(async () => {
  await traffic?.abandon()
  writes?.close()
  receiver?.close()
  await installation?.stop()
})

/** Does something to the installation while it is written to, and notes how long each kind of write had to wait. */
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

it('loses no acknowledged write when servers and services are killed, and recovers without an operator', async () => {
  const { postgres, redis, replicas } = installation
  const before = await postgres.primaryName()
  await drill('PostgreSQL primary', postgres.killPrimary, async () => {
    const now = await postgres.primaryName()
    return now !== undefined && now !== before && (await postgres.isWhole())
  })

  const oldPrimary = await redis.primaryPort()
  let comeBack: (() => unknown) | undefined
  await drill(
    'Redis primary',
    async () => {
      comeBack = (await redis.killPrimary()).comeBack
    },
    async () => (await redis.primaryPort()) !== oldPrimary,
  )
  const webhooks = received
  await waitFor(() => received > webhooks + 3, {
    what: 'webhooks after the failover of Redis',
    intervalMs: 100,
  })
  await comeBack?.()
  await waitFor(() => redis.isWhole().catch(() => false), {
    what: 'Redis to have a replica again',
    intervalMs: 100,
  })

  for (const [name, [replica]] of Object.entries(replicas)) {
    if (!replica) throw new Error(`there is no ${name}`)
    const readiness = `http://127.0.0.1:${replica.port}/-/readiness`
    await drill(
      `one ${name}`,
      () => process.kill(replica.process.pid() ?? 0, 'SIGKILL'),
      async () => (await fetch(readiness)).ok,
    )
  }

  await traffic.stop()
  await writes.stopAndExpectAll()
  printPauses()
  expect([...traffic.results].filter(([, { outcome }]) => outcome !== 'stored')).toEqual([])
  const rows = await queryAll(
    postgres.url,
    "SELECT id, status || ' ' || coalesce(outcome, 'null') AS final FROM sagas WHERE service_name = 'booking'",
  )
  const finals = new Map(rows.map(({ id, final }) => [id, final]))
  expect([...traffic.finals.keys()].map((id) => [id, finals.get(id)])).toEqual([...traffic.finals])
  expect(await verifyDerivedRows(postgres.url)).toEqual([])
})
