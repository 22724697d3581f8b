import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { conflict } from '@switchyard/domain'
import pg, { type PoolClient } from 'pg'
import type { Database } from '../../../client.js'
import { fencePrefix, sqlStateOf } from '../../../database-failure.js'
import { inPoolTransaction } from '../../../pool-transaction.js'
import { tenantTables } from './tenant-tables.js'

type Pool = Pick<Database, 'pool'>

const lockNotAvailable = '55P03'
const lockTries = 60
const lockPauseMs = 200

/**
 * Runs `work` in a transaction that waits for locks only for a second, as writers wait behind it, and tries again.
 *
 * @throws DomainError conflict when other transactions hold a lock on the table for too long
 */
export async function withShortLocks<T>(
  { pool }: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inPoolTransaction(pool, work, "BEGIN; SET LOCAL lock_timeout = '1s'")
    } catch (error) {
      if (sqlStateOf(error) !== lockNotAvailable) throw error
      if (tries === lockTries) throw conflict('a table is in use for a long time: try again later')
    }
    await delay(lockPauseMs)
  }
}

const fenceOf = (tenant: string) => `${fencePrefix}${createHash('md5').update(tenant).digest('hex')}`

const fencedTables = tenantTables.filter(({ isFenced }) => isFenced).map(({ name }) => name)

/**
 * Has PostgreSQL refuse new and changed rows of a tenant, so a process with an outdated map of tenants cannot write. Transactions
 * that have written already have ended when it resolves. Only the owner of the schema may do it.
 */
export async function fenceTenant(
  database: Pool,
  tenant: string,
  tables: readonly string[] = fencedTables,
): Promise<void> {
  const fence = fenceOf(tenant)
  for (const table of tables)
    await withShortLocks(database, async (client) => {
      const { rowCount } = await client.query(
        'SELECT FROM pg_constraint WHERE conrelid = $1::regclass AND conname = $2',
        [table, fence],
      )
      if (rowCount === 0)
        await client.query(
          `ALTER TABLE ${table} ADD CONSTRAINT ${fence} CHECK (tenant <> ${pg.escapeLiteral(tenant)}) NOT VALID`,
        )
    })
}

/**
 * Removes the constraints of {@link fenceTenant}. It locks no table that has none, because another transaction may hold a lock on
 * it for long.
 */
export async function unfenceTenant(database: Pool, tenant: string): Promise<void> {
  const fence = fenceOf(tenant)
  const { rows } = await database.pool.query<{ table: string }>(
    'SELECT conrelid::regclass::text AS table FROM pg_constraint WHERE conname = $1 AND conislocal',
    [fence],
  )
  for (const { table } of rows)
    await withShortLocks(database, (client) => client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${fence}`))
}
