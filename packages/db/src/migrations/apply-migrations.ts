import pg from 'pg'
import { noFilters, type SchemaEngine, toMigrationList, withSchemaEngine } from './schema-engine.js'
import { listShippedMigrations } from './shipped-migrations.js'

/** Partitions are created for this number of days from today on. A job of the worker creates later ones. */
const partitionDays = 8

export interface AppliedMigrations {
  /** Names of the migrations that this run applied. */
  migrations: string[]
  /** Names of the `saga_events` partitions that this run created. */
  partitions: string[]
}

/**
 * Applies the pending migrations of this version to the database at `url` and records them in `_prisma_migrations` as
 * `prisma migrate deploy` does. Simultaneous runs wait for each other.
 *
 * @param only names of the migrations to apply. Unset: all
 * @throws Error when the database does not answer or refuses a migration; the message names the migration
 */
export async function applyMigrations(
  url: string,
  { only }: { only?: readonly string[] } = {},
): Promise<AppliedMigrations> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    // The lock of the engine times out after ten seconds, which is too short for a long migration.
    await client.query("SELECT pg_advisory_lock(hashtextextended('switchyard.migrations', 0))")
    const migrations = await withSchemaEngine(url, (engine) => applyPending(engine, only))
    const { rows } = await client.query<{ partition: string }>(
      "SELECT ensure_saga_event_partitions((now() AT TIME ZONE 'UTC')::date, $1) AS partition",
      [partitionDays],
    )
    return { migrations, partitions: rows.map((row) => row.partition) }
  } finally {
    await client.end()
  }
}

async function applyPending(engine: SchemaEngine, only?: readonly string[]): Promise<string[]> {
  const shipped = await listShippedMigrations()
  const migrationsList = toMigrationList(shipped.filter(({ name }) => only?.includes(name) ?? true))
  const { failedMigrationNames } = await engine.diagnoseMigrationHistory({
    migrationsList,
    optInToShadowDatabase: false,
    filters: noFilters,
  })
  // A migration is one transaction, so a failed or interrupted one left no change and may run again.
  for (const migrationName of failedMigrationNames) await engine.markMigrationRolledBack({ migrationName })
  const output = await engine.applyMigrations({ migrationsList, filters: noFilters })
  return output.appliedMigrationNames
}
