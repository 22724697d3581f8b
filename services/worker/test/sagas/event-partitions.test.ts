import { createDatabase, type Database } from '@switchyard/db'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
})

afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

async function ensurePartitions(fromDay: string, days: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    'SELECT ensure_saga_event_partitions($1, $2) AS name',
    [fromDay, days],
  )
  return rows.map((row) => row.name)
}

async function insertEvent(receivedAt: string): Promise<string> {
  const { rows } = await database.pool.query<{ partition: string }>(
    `INSERT INTO saga_events (tenant, received_at, operation, content_key, result, request)
     VALUES ('t', $1, 'SagaStarted', '', 'recorded', '') RETURNING tableoid::regclass::text AS partition`,
    [receivedAt],
  )
  return rows[0]?.partition ?? ''
}

test('only missing days are created, and the call may be repeated', async () => {
  expect(await ensurePartitions('2031-12-30', 2)).toEqual(['saga_events_20311230', 'saga_events_20311231'])
  expect(await ensurePartitions('2031-12-30', 3)).toEqual(['saga_events_20320101'])
  expect(await ensurePartitions('2031-12-30', 3)).toEqual([])
})

test('a day is a day in UTC', async () => {
  await ensurePartitions('2032-03-01', 1)
  expect(await insertEvent('2032-03-01T00:00:00.000Z')).toBe('saga_events_20320301')
  expect(await insertEvent('2032-03-01T23:59:59.999Z')).toBe('saga_events_20320301')
  expect(await insertEvent('2032-02-29T23:59:59.999Z')).toBe('saga_events_default')
})

test('an event of a day without a partition is stored, and that day is skipped from then on', async () => {
  expect(await insertEvent('2033-01-02T12:00:00Z')).toBe('saga_events_default')
  expect(await ensurePartitions('2033-01-01', 3)).toEqual(['saga_events_20330101', 'saga_events_20330103'])
  expect(await insertEvent('2033-01-02T13:00:00Z')).toBe('saga_events_default')
})

test('parallel calls create each partition once', async () => {
  const calls = await Promise.all(Array.from({ length: 4 }, () => ensurePartitions('2034-01-01', 5)))
  expect(calls.flat().sort()).toEqual([1, 2, 3, 4, 5].map((day) => `saga_events_2034010${day}`))
})

test('a partition has the keys and indexes of the table', async () => {
  await ensurePartitions('2035-01-01', 1)
  const columns =
    "SELECT regexp_replace(indexdef, '^.* USING ', '') AS columns FROM pg_indexes WHERE tablename = $1 ORDER BY 1"
  const [parent, partition] = await Promise.all(
    ['saga_events', 'saga_events_20350101'].map(
      async (table) => (await database.pool.query(columns, [table])).rows,
    ),
  )
  expect(parent).toContainEqual({ columns: 'btree (id, received_at)' })
  expect(partition).toEqual(parent)
})
