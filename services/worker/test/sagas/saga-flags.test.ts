import { afterAll, beforeAll, expect, it } from 'vitest'
import { leaseSweep, releaseSweep } from '../../src/sweeps.js'
import { startHarness } from '../harness.js'
import { compensated, ended, executed, executing, report, retried, revoked, started } from '../saga-events.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let workers: Awaited<ReturnType<typeof harness.startWorker>>[]
beforeAll(async () => {
  harness = await startHarness()
  const settings = { SAGA_SWEEP_SECONDS: '1', SAGA_STUCK_AFTER_SECONDS: '600' }
  workers = await Promise.all([harness.startWorker(settings), harness.startWorker(settings)])
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  await harness.close()
})

/** Returns `kind saga activity` of every flag of a tenant. */
async function flagsOf(tenant: string): Promise<string[]> {
  const flags = await harness.database.prisma.sagaFlag.findMany({ where: { tenant } })
  return flags.map(({ kind, sagaId, activityId }) => `${kind} ${sagaId} ${activityId}`.trim()).sort()
}

const rowsOf = async (tenant: string) => ({
  sagas: await harness.database.prisma.saga.findMany({ where: { tenant } }),
  activities: await harness.database.prisma.sagaActivity.findMany({ where: { tenant } }),
})

const day = 86_400
const poll = { interval: 100 }

it('flags mark an activity past its deadline until it ends, and change no reported data', async () => {
  await report(
    harness.database,
    [
      [started('s'), 60],
      [executing('s', 'late', 30), 60],
      [executing('s', 'fine', 3600), 60],
    ],
    'overdue',
  )
  const before = await rowsOf('overdue')
  await expect.poll(() => flagsOf('overdue'), poll).toEqual(['overdue s late'])
  expect(await rowsOf('overdue')).toEqual(before)
  const [flag] = await harness.database.prisma.sagaFlag.findMany({ where: { tenant: 'overdue' } })
  const [saga] = before.sagas
  expect(flag?.firstSeenAt).toEqual(saga?.firstSeenAt)
  const late = before.activities.find(({ id }) => id === 'late')
  expect(flag?.since.getTime()).toBe((late?.startedAt?.getTime() ?? 0) + 30_000)
  await report(harness.database, [[executed('late'), 0]], 'overdue')
  await expect.poll(() => flagsOf('overdue'), poll).toEqual([])
})

it('flags mark an activity that is retried after its deadline', async () => {
  await report(
    harness.database,
    [
      [started('s'), 100],
      [executing('s', 'a', 10), 100],
      [executed('a'), 95],
    ],
    'again',
  )
  await report(
    harness.database,
    [
      [started('marker'), 100],
      [executing('marker', 'm', 10), 100],
    ],
    'again',
  )
  await expect.poll(() => flagsOf('again'), poll).toEqual(['overdue marker m'])
  await harness.database.pool.query(
    "UPDATE saga_activities SET status = 'Executing' WHERE tenant = 'again' AND id = 'a'",
  )
  await expect.poll(() => flagsOf('again'), poll).toEqual(['overdue marker m', 'overdue s a'])
})

it('flags mark a saga without recent events, including those of its activities, until it continues', async () => {
  await report(
    harness.database,
    [
      [started('silent'), 700],
      [executing('silent', 'a'), 650],
    ],
    'stuck',
  )
  await report(
    harness.database,
    [
      [started('lively'), 700],
      [executing('lively', 'b'), 30],
    ],
    'stuck',
  )
  await report(
    harness.database,
    [
      [started('finished'), 700],
      [ended('finished'), 700],
    ],
    'stuck',
  )
  await expect.poll(() => flagsOf('stuck'), poll).toEqual(['stuck silent'])
  await report(harness.database, [[executed('a'), 0]], 'stuck')
  await expect.poll(() => flagsOf('stuck'), poll).toEqual([])
})

it('flags mark a silent saga as settled when every activity has finished, until its client reports its end', async () => {
  await report(
    harness.database,
    [
      [started('s'), 700],
      [executing('s', 'a'), 700],
      [executed('a'), 700],
    ],
    'settled',
  )
  await expect.poll(() => flagsOf('settled'), poll).toEqual(['settled s'])
  await report(harness.database, [[ended('s'), 0]], 'settled')
  await expect.poll(() => flagsOf('settled'), poll).toEqual([])
})

it('flags mark an activity without a saga, or a saga without a start, as parked after a day, until it has one', async () => {
  await report(
    harness.database,
    [
      [executed('orphan'), day + 1],
      [executed('young'), day - 60],
      [executing('unstarted', 'a'), day + 1],
      [executed('a'), 1],
    ],
    'parked',
  )
  await expect.poll(() => flagsOf('parked'), poll).toEqual(['parked  orphan', 'parked unstarted'])
  await report(
    harness.database,
    [
      [executing('found', 'orphan'), 0],
      [started('unstarted'), 0],
      [started('found'), 0],
    ],
    'parked',
  )
  await expect.poll(() => flagsOf('parked'), poll).toEqual([])
})

it('flags mark contradictions as inconsistent, until later events resolve them', async () => {
  await report(
    harness.database,
    [
      [started('s'), 60],
      [executing('s', 'open'), 60],
      [ended('s'), 60],
      [started('t'), 60],
      [executing('t', 'both'), 60],
      [revoked('both'), 60],
      [executed('both'), 60],
    ],
    'inconsistent',
  )
  await expect.poll(() => flagsOf('inconsistent'), poll).toEqual(['inconsistent s', 'inconsistent t both'])
  const metrics = await Promise.all(workers.map(({ baseUrl }) => fetch(`${baseUrl}/metrics`)))
  const counted = (await Promise.all(metrics.map((answer) => answer.text())))
    .join('')
    .match(/^saga_anomalies_total.*/gm)
  expect(counted).toEqual(['saga_anomalies_total{kind="executed_and_revoked",service="worker"} 1'])
  await report(
    harness.database,
    [
      [compensated('open'), 0],
      [retried('both', 1), 0],
    ],
    'inconsistent',
  )
  await expect.poll(() => flagsOf('inconsistent'), poll).toEqual([])
})

it('flags of deleted sagas and activities are cleared', async () => {
  await report(
    harness.database,
    [
      [started('s'), 700],
      [executed('orphan'), 2 * day],
    ],
    'gone',
  )
  await expect.poll(() => flagsOf('gone'), poll).toEqual(['parked  orphan', 'stuck s'])
  await harness.database.prisma.saga.deleteMany({ where: { tenant: 'gone' } })
  await harness.database.prisma.sagaActivity.deleteMany({ where: { tenant: 'gone' } })
  await expect.poll(() => flagsOf('gone'), poll).toEqual([])
})

it('flags wait while another process sweeps', async () => {
  await expect.poll(() => leaseSweep(harness.database, 'flags', 'somebody', 60_000), poll).toBe(true)
  expect(await leaseSweep(harness.database, 'flags', 'somebody else', 60_000)).toBe(false)
  const sweeps = harness.queue('saga-flag-sweep')
  await report(harness.database, [[started('s'), 700]], 'held')
  const done = await sweeps.getCompletedCount()
  await expect.poll(() => sweeps.getCompletedCount(), poll).toBeGreaterThan(done + 2)
  expect(await flagsOf('held')).toEqual([])
  await releaseSweep(harness.database, 'flags', 'somebody')
  await expect.poll(() => flagsOf('held'), poll).toEqual(['stuck s'])
})

it('the sweep runs once an interval, however many workers there are', async () => {
  const sweeps = harness.queue('saga-flag-sweep')
  expect(await sweeps.getJobSchedulers()).toMatchObject([{ key: 'saga-flag-sweep', every: 1000 }])
  const before = await sweeps.getCompletedCount()
  await new Promise((resolve) => setTimeout(resolve, 3000))
  expect((await sweeps.getCompletedCount()) - before).toBeLessThanOrEqual(4)
})
