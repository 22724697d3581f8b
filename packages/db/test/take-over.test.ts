import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { checkDatabase, createDatabase } from '../src/index.js'
import { applyMigrations, diffDatabaseToSchema, listShippedMigrations } from '../src/migrations/index.js'
import { lastBeforeBaseline } from '../src/migrations/take-over.js'

let scratch: ScratchDatabase
let client: pg.Client

beforeEach(async () => {
  scratch = await createScratchDatabase()
  client = new pg.Client({ connectionString: scratch.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await scratch.drop()
})

/** Names of migrations that sort before the last one; takeOver counts them. */
const allNames = [
  ...Array.from({ length: 56 }, (_, index) => `20261121${String(index).padStart(6, '0')}_earlier`),
  lastBeforeBaseline,
]

/**
 * Creates a database as the earlier migrations do: the schema of the baseline, the tables of tenants' cells,
 * and a record of each migration.
 */
async function createEarlierDatabase(names: string[]): Promise<void> {
  const [baseline] = await listShippedMigrations()
  await client.query(`${baseline?.sql}
    CREATE TABLE saga_tenant_cells (tenant text PRIMARY KEY, cell text, changed_at timestamptz(3) NOT NULL DEFAULT now(),
      moves_from text, moves_to text, move_id uuid);
    CREATE INDEX saga_tenant_cells_changed_at_idx ON saga_tenant_cells (changed_at);
    CREATE TABLE saga_tenant_copies (move_id uuid PRIMARY KEY, copied_at timestamptz(3) NOT NULL DEFAULT now());
    CREATE TABLE _prisma_migrations (
      id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0);
    INSERT INTO broadcast_messages (message, starts_at, ends_at) VALUES ('kept', now(), now())`)
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
     SELECT gen_random_uuid(), md5(name), now(), name, 1 FROM unnest($1::text[]) AS name`,
    [names],
  )
}

const tenantTables = async () =>
  (
    await client.query(
      "SELECT relname FROM pg_class WHERE relname ~ '^saga_tenant_' AND relkind = 'r' ORDER BY 1",
    )
  ).rows

it('a new database gets the baseline and has the schema', async () => {
  expect((await applyMigrations(scratch.url)).migrations[0]).toBe('0_baseline')
  expect(await diffDatabaseToSchema(scratch.url)).toBe('')
  expect((await client.query('SELECT name FROM webhook_cursors')).rows).toEqual([{ name: 'sagas' }])
})

it('a database with the last migration before the baseline keeps its rows and loses the tables of cells', async () => {
  await createEarlierDatabase(allNames)
  expect((await applyMigrations(scratch.url)).migrations).toEqual(
    (await listShippedMigrations()).map(({ name }) => name),
  )
  expect(await diffDatabaseToSchema(scratch.url)).toBe('')
  expect(await tenantTables()).toEqual([])
  expect((await client.query('SELECT message FROM broadcast_messages')).rows).toEqual([{ message: 'kept' }])
  // Services of both releases are ready.
  const { rows } = await client.query(
    'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL',
  )
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(allNames))
  const database = createDatabase({ url: scratch.url, poolSizeMax: 1, applicationName: 'test' })
  await checkDatabase(database)
  await database.close()
  expect((await applyMigrations(scratch.url)).migrations).toEqual([])
})

it('a database with an earlier migration is refused with instructions, and not changed', async () => {
  await createEarlierDatabase(allNames.slice(0, -1))
  await expect(applyMigrations(scratch.url)).rejects.toThrow(
    `this database is older than ${lastBeforeBaseline}: first run the migrations of the release that ends with it (docs/upgrade.md)`,
  )
  expect(await tenantTables()).toEqual([{ relname: 'saga_tenant_cells' }, { relname: 'saga_tenant_copies' }])
  const { rows } = await client.query("SELECT FROM _prisma_migrations WHERE migration_name = '0_baseline'")
  expect(rows).toEqual([])
})

it('a migration waits for a table of cells that is in use, and records nothing before the table is dropped', async () => {
  await createEarlierDatabase(allNames)
  await client.query('BEGIN; SELECT FROM saga_tenant_copies')
  const options = { lockTimeoutMs: 50, retryAfterMs: 10, attempts: 2 }
  await expect(applyMigrations(scratch.url, options)).rejects.toThrow('a table was not free within 50 ms')
  expect(
    (await client.query("SELECT FROM _prisma_migrations WHERE migration_name = '0_baseline'")).rowCount,
  ).toBe(0)
  await client.query('COMMIT')
  expect(await tenantTables()).toHaveLength(2)
  expect((await applyMigrations(scratch.url, options)).migrations).toContain('0_baseline')
})
