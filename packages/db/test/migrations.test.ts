import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { applyMigrations, diffDatabaseToSchema, listShippedMigrations } from '../src/migrations/index.js'

let scratch: ScratchDatabase
let url: string
let client: pg.Client

beforeEach(async () => {
  scratch = await createScratchDatabase()
  url = scratch.url
  client = new pg.Client({ connectionString: url })
  await client.connect()
})

afterEach(async () => {
  await client.end()
  await scratch.drop()
})

const shippedNames = async () => (await listShippedMigrations()).map((migration) => migration.name)

async function recordedMigrations() {
  const { rows } = await client.query(
    'SELECT migration_name, checksum, finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS rolled_back ' +
      'FROM _prisma_migrations ORDER BY started_at',
  )
  return rows
}

test('a second run applies nothing and records nothing', async () => {
  const first = await applyMigrations(url)
  expect(first.migrations).toEqual(await shippedNames())
  const recorded = await recordedMigrations()
  expect(await applyMigrations(url)).toEqual({ migrations: [], partitions: [] })
  expect(await recordedMigrations()).toEqual(recorded)
})

test('of simultaneous runs, one applies the migrations and the others find nothing to do', async () => {
  const runs = await Promise.all([applyMigrations(url), applyMigrations(url), applyMigrations(url)])
  expect(runs.flatMap((run) => run.migrations)).toEqual(await shippedNames())
  expect(await recordedMigrations()).toHaveLength((await shippedNames()).length)
})

test('a run creates the partitions of today and the next seven days (UTC)', async () => {
  const { partitions } = await applyMigrations(url)
  const days = Array.from({ length: 8 }, (_, day) =>
    new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', ''),
  )
  expect(partitions).toEqual(days.map((day) => `saga_events_${day}`))
})

test('an interrupted migration runs again', async () => {
  await applyMigrations(url)
  const [migration] = await recordedMigrations()
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  await client.query(`CREATE TABLE _prisma_migrations (
    id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
    migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`)
  await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    'cut-off',
    migration.checksum,
    migration.migration_name,
  ])
  expect((await applyMigrations(url)).migrations).toEqual(await shippedNames())
  const records = (await recordedMigrations()).filter(({ checksum }) => checksum === migration.checksum)
  expect(records).toMatchObject([
    { finished: false, rolled_back: true },
    { finished: true, rolled_back: false },
  ])
})

test('the migrations lead exactly to the schema, and a missing column is reported', async () => {
  await applyMigrations(url)
  expect(await diffDatabaseToSchema(url)).toBe('')
  await client.query('ALTER TABLE saga_events DROP COLUMN result')
  expect(await diffDatabaseToSchema(url)).toMatch(
    /ALTER TABLE "saga_events" ADD COLUMN\s+"result" TEXT NOT NULL/,
  )
})

test('a database with foreign tables is not changed', async () => {
  await client.query('CREATE TABLE somebody_elses (id integer)')
  await expect(applyMigrations(url)).rejects.toThrow(/not empty/)
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
  expect(rows).toEqual([{ tablename: 'somebody_elses' }])
})
