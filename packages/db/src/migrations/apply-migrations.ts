import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { readAppliedMigrationNames } from '../open-database.js'
import { completePartitionedIndexes, dropUnfinishedIndexes } from './index-builds.js'
import { holdSchemaLock, isLockTimeout } from './lock-timeout.js'
import {
  type MigrationList,
  noFilters,
  type SchemaEngine,
  toMigrationList,
  withSchemaEngine,
} from './schema-engine.js'
import { listShippedMigrations, type ShippedMigration } from './shipped-migrations.js'
import { takeOver } from './take-over.js'

/**
 * Number of days, from today on, for which partitions are created. A job of the worker creates later ones.
 */
const partitionDays = 8

export interface AppliedMigrations {
  /** Names of the migrations that this run applied. */
  migrations: string[]
  /** Names of the `saga_events` partitions that this run created. */
  partitions: string[]
}

export interface ApplyOptions {
  /** The migrations to apply. Unset: those of this version. */
  shipped?: readonly ShippedMigration[]
  /** Longest wait of a statement for a lock. Later statements on the same table wait behind it. */
  lockTimeoutMs?: number
  /** Number of attempts to get every lock. */
  attempts?: number
  /** Pause between two attempts, in which waiting statements continue. */
  retryAfterMs?: number
  /** Receives the reason why an attempt ended. */
  onRetry?: (reason: string) => void
}

/**
 * Applies the pending migrations of this version to the database at `url` and records them in
 * `_prisma_migrations` as `prisma migrate deploy` does. Simultaneous runs wait for each other.
 *
 * @throws Error when the database does not answer, refuses a migration or gives no lock. The next run
 * continues where this one stopped
 */
export async function applyMigrations(url: string, options: ApplyOptions = {}): Promise<AppliedMigrations> {
  const { lockTimeoutMs = 2000, attempts = 30, retryAfterMs = 5000, onRetry } = options
  const shipped = options.shipped ?? (await listShippedMigrations())
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    // The lock of the engine times out after ten seconds, which is too short for a long migration.
    await holdSchemaLock(client)
    const before = await readAppliedMigrationNames(client)
    for (let attempt = 1; ; attempt += 1) {
      try {
        await applyPending(client, url, shipped, lockTimeoutMs)
        const partitions = await ensurePartitions(client, lockTimeoutMs)
        const after = await readAppliedMigrationNames(client)
        return { migrations: [...after].filter((name) => !before.has(name)).sort(), partitions }
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        const reason = `a table was not free within ${lockTimeoutMs} ms`
        if (attempt >= attempts)
          throw new Error(`${reason}, ${attempts} times; run the migration again`, { cause: error })
        onRetry?.(reason)
        await delay(retryAfterMs)
      }
    }
  } finally {
    await client.end()
  }
}

async function applyPending(
  client: pg.Client,
  url: string,
  shipped: readonly ShippedMigration[],
  lockTimeoutMs: number,
): Promise<void> {
  await takeOver(client, shipped, lockTimeoutMs)
  await withSchemaEngine(
    url,
    async (engine) => {
      const migrationsList = toMigrationList(shipped)
      await reopenFailed(client, engine, migrationsList, shipped)
      await engine.applyMigrations({ migrationsList, filters: noFilters })
    },
    lockTimeoutMs,
  )
  await completePartitionedIndexes(client, lockTimeoutMs)
}

/**
 * Marks failed or interrupted migrations as pending. Such a migration is one transaction, which left no
 * change, or it builds one index CONCURRENTLY, which may be unfinished.
 */
async function reopenFailed(
  client: pg.Client,
  engine: SchemaEngine,
  migrationsList: MigrationList,
  shipped: readonly ShippedMigration[],
): Promise<void> {
  const { failedMigrationNames } = await engine.diagnoseMigrationHistory({
    migrationsList,
    optInToShadowDatabase: false,
    filters: noFilters,
  })
  for (const migrationName of failedMigrationNames) {
    const sql = shipped.find(({ name }) => name === migrationName)?.sql ?? ''
    await dropUnfinishedIndexes(client, sql)
    await engine.markMigrationRolledBack({ migrationName })
  }
}

async function ensurePartitions(client: pg.Client, lockTimeoutMs: number): Promise<string[]> {
  await client.query(`SET lock_timeout = ${lockTimeoutMs}`)
  const { rows } = await client.query<{ partition: string }>(
    "SELECT ensure_saga_event_partitions((now() AT TIME ZONE 'UTC')::date, $1) AS partition",
    [partitionDays],
  )
  return rows.map((row) => row.partition)
}
