import { afterAll, beforeAll, expect, it } from 'vitest'
import { metricsSweep } from '../../src/sagas/metrics-store.js'
import { purgeSagas } from '../../src/sagas/retention-store.js'
import { startHarness } from '../harness.js'
import { ago, compensated, ended, executed, executing, givenUp, report, started } from '../saga-events.js'

const day = 86_400
/** A saga stays until webhooks, which poll every five seconds, have processed it. */
const poll = { interval: 100 }
const settings = {
  SAGA_SWEEP_SECONDS: '1',
  SAGA_RETENTION_EVERY_SECONDS: '1',
  SAGA_RETENTION: 'ended=30d,succeeded=7d,slow/ended=90d,seed/settled=60d',
}

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  await worker?.close()
  await harness.close()
})

const sagasOf = async (tenant: string) => {
  const rows = await harness.database.prisma.saga.findMany({ where: { tenant }, orderBy: { id: 'asc' } })
  return rows.map(({ id }) => id)
}

/** Waits until webhooks and metrics have processed the whole log, because no saga is deleted before. */
const everythingIsTold = () =>
  expect
    .poll(async () => {
      const { rows } = await harness.database.pool.query<{ told: boolean }>(
        `SELECT LEAST(c.position, (s.position -> 'ended' ->> 0)::bigint) >= (SELECT max(id) FROM saga_events) AS told
         FROM webhook_cursors c, saga_sweeps s WHERE c.name = 'sagas' AND s.name = '${metricsSweep}'`,
      )
      return rows[0]?.told
    }, poll)
    .toBe(true)

/** Creates a saga with a single step that ended that many days ago. */
const finished = (id: string, days: number, service = 'orders') =>
  report(harness.database, [
    [started(id, service), days * day + 10],
    [executing(id, `${id}-a`), days * day + 5],
    [executed(`${id}-a`), days * day],
    [ended(id), days * day],
  ])

it("retention deletes sagas by the policy and by their clients' expiry, but none that is open, in error or not due", async () => {
  await finished('succeeded-8', 8)
  await finished('succeeded-6', 6)
  await finished('slow-8', 8, 'slow')
  await finished('slow-91', 91, 'slow')
  await report(harness.database, [
    [started('compensated-8'), 8 * day],
    [executing('compensated-8', 'c8'), 8 * day],
    [compensated('c8'), 8 * day],
    [ended('compensated-8'), 8 * day],
    [started('open-100'), 100 * day],
    [executing('open-100', 'o'), 100 * day],
    [started('error-100'), 100 * day],
    [executing('error-100', 'e'), 100 * day],
    [givenUp('e', 'error-100'), 100 * day],
    [ended('error-100', ago(50 * day)), 100 * day],
    [started('expired'), 60],
    [ended('expired', ago(1)), 60],
    [started('expires-later'), 100 * day],
    [ended('expires-later', ago(-day)), 100 * day],
    [started('settled-61', 'seed'), 61 * day],
    [executing('settled-61', 's'), 61 * day],
    [executed('s'), 61 * day],
    [started('settled-59', 'seed'), 59 * day],
    [executing('settled-59', 't'), 59 * day],
    [executed('t'), 59 * day],
    [started('settled-other'), 100 * day],
    [executing('settled-other', 'u'), 100 * day],
    [executed('u'), 100 * day],
    [executed('parked'), 100 * day],
  ])
  worker = await harness.startWorker(settings)
  await expect
    .poll(() => sagasOf('default'), poll)
    .toEqual([
      'compensated-8',
      'error-100',
      'expires-later',
      'open-100',
      'settled-59',
      'settled-other',
      'slow-8',
      'succeeded-6',
    ])
  const { prisma } = harness.database
  const activities = await prisma.sagaActivity.findMany({ orderBy: { id: 'asc' } })
  expect(activities.map(({ id }) => id)).toEqual([
    'c8',
    'e',
    'o',
    'parked',
    'slow-8-a',
    'succeeded-6-a',
    't',
    'u',
  ])
  const tombstones = await prisma.sagaTombstone.findMany({ orderBy: [{ kind: 'asc' }, { id: 'asc' }] })
  expect(tombstones.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'activity s',
    'activity slow-91-a',
    'activity succeeded-8-a',
    'saga expired',
    'saga settled-61',
    'saga slow-91',
    'saga succeeded-8',
  ])
  await expect.poll(() => prisma.sagaFlag.count({ where: { sagaId: 'settled-61' } }), poll).toBe(0)
  const metrics = await (await fetch(`${worker.baseUrl}/metrics`)).text()
  expect(metrics).toContain('saga_purged_total{service="orders"} 2')
  expect(metrics).toContain('saga_purged_total{service="slow"} 1')
  expect(metrics).toContain('saga_purged_total{service="seed"} 1')
})

it('retention deletes the rows of a saga with it, and none of others', async () => {
  const { pool } = harness.database
  await pool.query(
    `INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body)
       VALUES ('default', 'kept', 1, 'root', 'x'), ('default', 'gone', 1, 'root', 'x'), ('other', 'gone', 1, 'root', 'x');
     INSERT INTO saga_tags (tenant, saga_id, tag, first_seen_at)
       VALUES ('default', 'kept', 'a=1', now()), ('default', 'gone', 'a=1', now()), ('other', 'gone', 'a=1', now())`,
  )
  await finished('kept', 1)
  await finished('gone', 8)
  await expect.poll(() => sagasOf('default'), poll).not.toContain('gone')
  for (const table of ['saga_notes', 'saga_tags']) {
    const { rows } = await pool.query(`SELECT tenant, saga_id AS id FROM ${table} ORDER BY 1, 2`)
    expect(rows).toEqual([
      { tenant: 'default', id: 'kept' },
      { tenant: 'other', id: 'gone' },
    ])
  }
})

it('retention keeps a resolved saga by the policy from its resolution on', async () => {
  const { pool } = harness.database
  const resolve = (id: string, seconds: number) =>
    pool.query(
      `UPDATE sagas SET resolved_at = $2, last_event_at = $2, resolved_by = 'root',
         status = CASE WHEN ended_at IS NULL THEN 'Started' ELSE 'Ended' END,
         outcome = CASE WHEN ended_at IS NOT NULL THEN 'inconsistent' END WHERE id = $1`,
      [id, ago(seconds)],
    )
  const failed = (id: string) =>
    report(harness.database, [
      [started(id), 100 * day],
      [executing(id, `${id}-a`), 100 * day],
      [givenUp(`${id}-a`, id), 100 * day],
    ])
  await failed('resolved-29')
  await failed('resolved-31')
  await failed('resolved-ended-31')
  await report(harness.database, [[ended('resolved-ended-31'), 100 * day]])
  await resolve('resolved-29', 29 * day)
  await resolve('resolved-31', 31 * day)
  await resolve('resolved-ended-31', 31 * day)
  await expect.poll(() => sagasOf('default'), poll).not.toContain('resolved-31')
  await expect.poll(() => sagasOf('default'), poll).not.toContain('resolved-ended-31')
  expect(await sagasOf('default')).toEqual(expect.arrayContaining(['resolved-29', 'error-100']))
})

it('retention checks a saga again once it can no longer change', async () => {
  await finished('raced', 8)
  const judged: number[] = []
  const purged = await purgeSagas(harness.database, [{ tenant: 'nobody', id: 'raced' }], () => true)
  expect(purged).toEqual([])
  await finished('judged', 3)
  await everythingIsTold()
  const kept = await purgeSagas(harness.database, [{ tenant: 'default', id: 'judged' }], (_, activities) => {
    judged.push(activities.length)
    return false
  })
  expect([kept, judged]).toEqual([[], [1]])
  expect(await sagasOf('default')).toContain('judged')
})

it('retention loses no event that is reported while its saga is deleted', async () => {
  const rounds = Array.from({ length: 20 }, (_, round) => `race-${round}`)
  for (const id of rounds) await finished(id, 3)
  await everythingIsTold()
  for (const id of rounds)
    await Promise.all([
      report(harness.database, [[executing(id, `${id}-late`), 0]]),
      // The saga is deleted unless the event came first.
      purgeSagas(harness.database, [{ tenant: 'default', id }], (_, activities) => activities.length < 2),
    ])
  const { prisma } = harness.database
  for (const id of rounds) {
    const saga = await prisma.saga.findUnique({ where: { tenant_id: { tenant: 'default', id } } })
    const activities = await prisma.sagaActivity.count({ where: { sagaId: id } })
    const tombstone = await prisma.sagaTombstone.count({ where: { kind: 'saga', id } })
    // The saga exists with the new activity, or is deleted completely; never partially.
    expect([id, saga !== null, activities, tombstone]).toEqual([
      id,
      saga !== null,
      saga ? 2 : 0,
      saga ? 0 : 1,
    ])
  }
})

it('retention deletes tombstones, unless the log still has events of their sagas', async () => {
  const { pool, prisma } = harness.database
  await pool.query(
    `INSERT INTO saga_tombstones (tenant, kind, id, purged_at) VALUES ('default', 'saga', 'long-gone', $1),
       ('default', 'activity', 'long-gone-a', $1), ('default', 'saga', 'fresh', $2)`,
    [ago(91 * day), ago(89 * day)],
  )
  await pool.query("UPDATE saga_tombstones SET purged_at = $1 WHERE id = 'succeeded-8'", [ago(91 * day)])
  await expect
    .poll(() => prisma.sagaTombstone.count({ where: { id: { startsWith: 'long-gone' } } }), poll)
    .toBe(0)
  expect(await prisma.sagaTombstone.count({ where: { id: { in: ['fresh', 'succeeded-8'] } } })).toBe(2)
})
