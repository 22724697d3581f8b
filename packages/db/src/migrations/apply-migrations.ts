import pg from 'pg'
import { noFilters, type SchemaEngine, toMigrationList, withSchemaEngine } from './schema-engine.js'
import { listShippedMigrations } from './shipped-migrations.js'

/** Events of today and of this many days in all find a partition; the retention job goes on from there. */
const partitionDays = 8

export interface AppliedMigrations {
  /** Names of the migrations this run applied; empty when there was nothing to do. */
  migrations: string[]
  /** Names of the `saga_events` partitions this run made. */
  partitions: string[]
}

/**
 * Brings the database at `url` to the schema this version ships, and records it in `_prisma_migrations` as
 * `prisma migrate deploy` does, so either can follow the other. Runs at the same time wait for each other.
 * @throws when the database does not answer or refuses a migration; the message names the migration
 */
export async function applyMigrations(url: string): Promise<AppliedMigrations> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    // The engine's own lock gives up after ten seconds; this one waits for as long as a migration takes.
    await client.query("SELECT pg_advisory_lock(hashtextextended('switchyard.migrations', 0))")
    const migrations = await withSchemaEngine(url, applyPending)
    const { rows } = await client.query<{ partition: string }>(
      "SELECT ensure_saga_event_partitions((now() AT TIME ZONE 'UTC')::date, $1) AS partition",
      [partitionDays],
    )
    return { migrations, partitions: rows.map((row) => row.partition) }
  } finally {
    await client.end()
  }
}

async function applyPending(engine: SchemaEngine): Promise<string[]> {
  const migrationsList = toMigrationList(await listShippedMigrations())
  const { failedMigrationNames } = await engine.diagnoseMigrationHistory({
    migrationsList,
    optInToShadowDatabase: false,
    filters: noFilters,
  })
  // A migration is one transaction: one that failed or was cut off left nothing behind and may run again.
  for (const migrationName of failedMigrationNames) await engine.markMigrationRolledBack({ migrationName })
  const output = await engine.applyMigrations({ migrationsList, filters: noFilters })
  return output.appliedMigrationNames
}
