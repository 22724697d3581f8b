import { createHash } from 'node:crypto'
import type pg from 'pg'
import { readAppliedMigrationNames } from '../open-database.js'
import type { ShippedMigration } from './shipped-migrations.js'

/** The newest of the migrations that the baseline replaces, and their number. */
export const lastBeforeBaseline = '20261205090001_protected_branches_updated_at'
const countBeforeBaseline = 57

/**
 * Takes over a database that was made by the migrations before the baseline. Drops the two tables that the
 * baseline does not have, and records the baseline as applied, in one transaction. The records of those
 * migrations stay, because running services of the release before are ready only with them.
 *
 * @throws Error when the database has only some of those migrations
 */
export async function takeOver(
  client: pg.Client,
  [baseline]: readonly ShippedMigration[],
  lockTimeoutMs: number,
): Promise<void> {
  const applied = await readAppliedMigrationNames(client)
  if (applied.size === 0 || !baseline || applied.has(baseline.name)) return
  if (!applied.has(lastBeforeBaseline) || applied.size < countBeforeBaseline)
    throw new Error(
      `this database is older than ${lastBeforeBaseline}: first run the migrations of the release that ends with it (docs/upgrade.md)`,
    )
  await client.query(`SET lock_timeout = ${lockTimeoutMs}`)
  // The statements of one query are one transaction.
  await client.query(`DROP TABLE saga_tenant_cells, saga_tenant_copies;
    INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
    VALUES (gen_random_uuid(), '${createHash('sha256').update(baseline.sql).digest('hex')}', now(), '${baseline.name}', 1)`)
}
