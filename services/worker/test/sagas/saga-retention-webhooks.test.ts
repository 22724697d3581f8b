import { afterAll, beforeAll, expect, it } from 'vitest'
import { metricsSweep, writeCountedPosition } from '../../src/sagas/metrics-store.js'
import { purgeSagas } from '../../src/sagas/retention-store.js'
import { followFinishedSagas, followFlags } from '../../src/webhooks/saga-events.js'
import { startHarness } from '../harness.js'
import { ago, ended, report, started } from '../saga-events.js'
import { addWebhook } from '../webhooks/webhook-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const finished = (id: string) =>
  report(harness.database, [
    [started(id), 2],
    [ended(id, ago(1)), 1],
  ])

const purge = async (id: string) => {
  const purged = await purgeSagas(harness.database, [{ tenant: 'default', id }], () => true)
  return purged.map((saga) => saga.id)
}

const follow = async () => {
  const { database } = harness
  const options = { database, externalUrl: undefined, signal: new AbortController().signal }
  await followFinishedSagas(options)
  await followFlags(options)
}

const lastEventId = async () => {
  const { rows } = await harness.database.pool.query<{ id: string }>('SELECT max(id) AS id FROM saga_events')
  return rows[0]?.id ?? '0'
}

const countedUpTo = (position: string) => writeCountedPosition(harness.database, Number(position))

it('a saga stays until webhooks have processed its last event', async () => {
  await finished('news')
  expect(await purge('news')).toEqual([])
  await follow()
  expect(await purge('news')).toEqual(['news'])
})

it('a saga stays until the metrics have counted its last event', async () => {
  await countedUpTo(await lastEventId())
  await finished('uncounted')
  await follow()
  expect(await purge('uncounted')).toEqual([])
  await countedUpTo(await lastEventId())
  expect(await purge('uncounted')).toEqual(['uncounted'])
})

it('a saga stays until webhooks have processed its flags', async () => {
  await finished('flagged')
  await follow()
  await countedUpTo(await lastEventId())
  const key = { tenant: 'default', kind: 'inconsistent', sagaId: 'flagged' }
  await harness.database.prisma.sagaFlag.create({ data: { ...key, since: ago(1), firstSeenAt: ago(2) } })
  expect(await purge('flagged')).toEqual([])
  await follow()
  expect(await purge('flagged')).toEqual(['flagged'])
})

it('every end is delivered and counted, even when the retention of the saga ends at the same time', async () => {
  const { database } = harness
  await database.pool.query(`DELETE FROM saga_sweeps WHERE name = '${metricsSweep}'`)
  const { id: webhookId } = await addWebhook(database, 'https://example.com/hook', { events: ['saga.ended'] })
  const worker = await harness.startWorker({ SAGA_SWEEP_SECONDS: '1', SAGA_RETENTION_EVERY_SECONDS: '1' })
  try {
    const metric = async (name: string) => {
      const metrics = await (await fetch(`${worker.baseUrl}/metrics`)).text()
      return Number(new RegExp(`^${name}{.*service="orders".*} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
    }
    // Sagas that ended before counting began are not counted.
    await expect
      .poll(() =>
        database.pool.query(`SELECT FROM saga_sweeps WHERE name = '${metricsSweep}' AND position ? 'ended'`),
      )
      .toMatchObject({ rowCount: 1 })
    for (let round = 0; round < 10; round += 1) {
      await finished(`brief-${round}`)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    const poll = { interval: 200 }
    await expect.poll(() => metric('saga_purged_total'), poll).toBe(10)
    expect(await database.prisma.webhookDelivery.count({ where: { webhookId } })).toBe(10)
    expect(await metric('sagas_ended_total')).toBe(10)
  } finally {
    await worker.close()
  }
})
