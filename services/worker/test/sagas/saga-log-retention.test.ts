import { afterAll, beforeAll, expect, it } from 'vitest'
import { dropLogPartition } from '../../src/sagas/log-store.js'
import { startHarness } from '../harness.js'
import { ended, executed, executing, report, started } from '../saga-events.js'

const day = 86_400
const poll = { interval: 100 }

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
beforeAll(async () => {
  harness = await startHarness()
  for (const days of [50, 40, 35, 20])
    await harness.database.pool.query('SELECT ensure_saga_event_partitions(current_date - $1::int, 1)', [
      days,
    ])
  // Each saga has its own day, so that the state of the saga decides about the day.
  await report(harness.database, life('living', 40))
  await report(harness.database, life('dead-beside-it', 40))
  await report(harness.database, life('dead', 50))
  await report(harness.database, life('young-and-dead', 20))
  await report(harness.database, life('dead-without-a-day', 45))
  await report(harness.database, life('living-without-a-day', 45))
  await report(harness.database, [[executed('parked'), 35 * day]])
  await harness.database.pool.query("DELETE FROM sagas WHERE id LIKE '%dead%'")
  await harness.database.pool.query("DELETE FROM saga_activities WHERE saga_id LIKE '%dead%'")
})
afterAll(async () => {
  await worker?.close()
  await harness.close()
})

const life = (id: string, days: number): Parameters<typeof report>[1] => [
  [started(id), days * day],
  [executing(id, `${id}-a`), days * day],
  [executed(`${id}-a`), days * day],
  [ended(id), days * day],
]

async function partitionsAgo(): Promise<number[]> {
  const { rows } = await harness.database.pool.query<{ days: number }>(
    `SELECT current_date - to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') AS days FROM pg_inherits
     WHERE inhparent = 'saga_events'::regclass AND inhrelid <> 'saga_events_default'::regclass ORDER BY 1 DESC`,
  )
  return rows.map(({ days }) => days).filter((days) => days > 1)
}

async function eventsOf(): Promise<Record<string, number>> {
  const { rows } = await harness.database.pool.query<{ id: string; count: number }>(
    'SELECT COALESCE(saga_id, activity_id) AS id, count(*)::int AS count FROM saga_events GROUP BY 1 ORDER BY 1',
  )
  return Object.fromEntries(rows.map(({ id, count }) => [id, count]))
}

it('past days without events of existing sagas are dropped, and the others are thinned out', async () => {
  expect(await partitionsAgo()).toEqual([50, 40, 35, 20])
  worker = await harness.startWorker({ SAGA_LOG_RETENTION_DAYS: '30', SAGA_RETENTION: 'ended=never' })
  await expect.poll(eventsOf, poll).toEqual({
    living: 4,
    'living-without-a-day': 4,
    parked: 1,
    'young-and-dead': 4,
  })
  expect(await partitionsAgo()).toEqual([40, 35, 20])
})

it('a kept day is dropped later when its sagas no longer exist', async () => {
  const { pool } = harness.database
  await pool.query("DELETE FROM sagas WHERE id = 'living'")
  await pool.query("DELETE FROM saga_activities WHERE saga_id = 'living'")
  const queue = harness.queue('saga-log-retention')
  const look = async () => {
    const job = await queue.add('saga-log-retention', {})
    await expect.poll(() => job.getState(), poll).toBe('completed')
  }
  await look()
  expect(await partitionsAgo()).toEqual([40, 35, 20])
  // Moves the last check a day back.
  await pool.query(
    `UPDATE saga_sweeps SET position = replace(position::text, to_char(now(), 'YYYY-'), '2020-')::jsonb
     WHERE name = 'log-retention'`,
  )
  await look()
  expect(await partitionsAgo()).toEqual([35, 20])
  expect(Object.keys(await eventsOf())).not.toContain('living')
})

it('dropping does not wait for a reader of the log, because recording would have to wait, too', async () => {
  const { pool } = harness.database
  const [{ name }] = (
    await pool.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'saga_events'::regclass
       AND inhrelid <> 'saga_events_default'::regclass ORDER BY 1 LIMIT 1`,
    )
  ).rows as [{ name: string }]
  const reader = await pool.connect()
  try {
    await reader.query('BEGIN; SELECT FROM saga_events LIMIT 1')
    expect(await dropLogPartition(harness.database, name)).toBe(false)
  } finally {
    await reader.query('COMMIT')
    reader.release()
  }
  expect(await partitionsAgo()).toEqual([35, 20])
})
