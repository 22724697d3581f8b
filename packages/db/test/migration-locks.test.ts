import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { applyMigrations, listShippedMigrations, type ShippedMigration } from '../src/migrations/index.js'

let scratch: ScratchDatabase
let client: pg.Client
let other: pg.Client

beforeEach(async () => {
  scratch = await createScratchDatabase()
  await applyMigrations(scratch.url)
  client = new pg.Client({ connectionString: scratch.url })
  other = new pg.Client({ connectionString: scratch.url })
  await client.connect()
  await other.connect()
})
afterEach(async () => {
  await client.end()
  await other.end()
  await scratch.drop()
})

/** Returns every shipped migration, and one more. */
async function withNext(sql: string): Promise<ShippedMigration[]> {
  return [...(await listShippedMigrations()), { name: '99990101000000_next', sql }]
}

async function recorded() {
  const { rows } = await client.query(
    `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS rolled_back FROM _prisma_migrations
     WHERE migration_name = '99990101000000_next' ORDER BY started_at`,
  )
  return rows
}

const isWaiting = async () => {
  const { rowCount } = await other.query(
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  )
  return (rowCount ?? 0) > 0
}

test('writers wait no longer than the timeout for a table that a migration cannot lock, and the migration tries again', async () => {
  const shipped = await withNext(
    'CREATE TABLE added_first (id integer); ALTER TABLE projects ADD COLUMN added text',
  )
  await client.query('BEGIN; UPDATE projects SET name = name')
  let retried: () => void = () => {}
  const firstRetry = new Promise<void>((resolve) => {
    retried = resolve
  })
  const migrating = applyMigrations(scratch.url, {
    shipped,
    lockTimeoutMs: 1000,
    retryAfterMs: 100,
    onRetry: retried,
  })
  await expect.poll(isWaiting).toBe(true)
  const started = performance.now()
  await other.query('UPDATE projects SET name = name WHERE id < 0')
  expect(performance.now() - started).toBeLessThan(2000)
  await firstRetry
  await client.query('COMMIT')
  expect((await migrating).migrations).toEqual(['99990101000000_next'])
  expect((await recorded()).at(-1)).toEqual({ finished: true, rolled_back: false })
})

test('a migration without a lock ends after its attempts, changes nothing, and can run again', async () => {
  const shipped = await withNext(
    'CREATE TABLE added_first (id integer); ALTER TABLE projects ADD COLUMN added text',
  )
  await client.query('BEGIN; UPDATE projects SET name = name')
  const options = { shipped, lockTimeoutMs: 50, retryAfterMs: 10, attempts: 3 }
  await expect(applyMigrations(scratch.url, options)).rejects.toThrow(
    'a table was not free within 50 ms, 3 times; run the migration again',
  )
  await client.query('COMMIT')
  expect((await client.query("SELECT to_regclass('added_first') AS first")).rows).toEqual([{ first: null }])
  expect(await recorded()).toEqual([
    { finished: false, rolled_back: true },
    { finished: false, rolled_back: true },
    { finished: false, rolled_back: false },
  ])
  expect((await applyMigrations(scratch.url, options)).migrations).toEqual(['99990101000000_next'])
})

test('the next run builds an index whose CONCURRENT build was interrupted', async () => {
  const shipped = await withNext('CREATE INDEX CONCURRENTLY added_idx ON projects (name)')
  await client.query('BEGIN; UPDATE projects SET name = name')
  const migrating = applyMigrations(scratch.url, {
    shipped,
    lockTimeoutMs: 50,
    retryAfterMs: 10,
    attempts: 1,
  })
  const cutOff = expect(migrating).rejects.toThrow()
  await expect.poll(isWaiting).toBe(true)
  await other.query('UPDATE projects SET name = name WHERE id < 0')
  await other.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'`,
  )
  await cutOff
  await client.query('COMMIT')
  const valid = async () =>
    (await client.query("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('added_idx')")).rows
  expect(await valid()).toEqual([{ indisvalid: false }])
  expect((await applyMigrations(scratch.url, { shipped })).migrations).toEqual(['99990101000000_next'])
  expect(await valid()).toEqual([{ indisvalid: true }])
})

test('an index ON ONLY a partitioned table is built in every partition, and continues after an interruption', async () => {
  const shipped = await withNext(
    'CREATE UNIQUE INDEX added_idx ON ONLY saga_events (received_at, id, saga_id)',
  )
  await client.query('BEGIN; LOCK TABLE saga_events_default IN SHARE UPDATE EXCLUSIVE MODE')
  const migrating = applyMigrations(scratch.url, { shipped })
  const cutOff = expect(migrating).rejects.toThrow()
  await expect.poll(isWaiting).toBe(true)
  await other.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'CREATE UNIQUE INDEX CONCURRENTLY%'`,
  )
  await cutOff
  await client.query('COMMIT')
  await applyMigrations(scratch.url, { shipped })
  const { rows } = await client.query(`SELECT i.indisvalid, i.indisunique,
      (SELECT count(*)::int FROM pg_inherits WHERE inhparent = i.indexrelid) AS parts,
      (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'saga_events'::regclass) AS partitions
    FROM pg_index i WHERE indexrelid = to_regclass('added_idx')`)
  expect(rows).toEqual([{ indisvalid: true, indisunique: true, parts: 9, partitions: 9 }])
})

test('the error of a refused migration has the reason of PostgreSQL', async () => {
  const shipped = await withNext('ALTER TABLE projects ADD COLUMN name text')
  await expect(applyMigrations(scratch.url, { shipped })).rejects.toThrow(
    /column "name" of relation "projects" already exists[\s\S]*99990101000000_next/,
  )
})
