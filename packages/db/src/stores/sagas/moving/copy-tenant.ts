import { pipeline } from 'node:stream/promises'
import { conflict } from '@switchyard/domain'
import pg, { type PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Database } from '../../../client.js'
import { inPoolTransaction } from '../../../pool-transaction.js'
import { withShortLocks } from './fence.js'
import { holdsTenant, type IdShifts, ofTenant, tenantTables } from './tenant-tables.js'

type Pool = Pick<Database, 'pool'>

/** The databases of the cells between which a tenant moves. */
export interface CellPair {
  source: Pool
  destination: Pool
}

/** @throws DomainError conflict while a bulk job of the tenant runs */
export async function requireNoBulkJob({ pool }: Pool, tenant: string): Promise<void> {
  const { rowCount } = await pool.query(
    'SELECT FROM saga_bulk_jobs WHERE tenant = $1 AND active_user_id IS NOT NULL LIMIT 1',
    [tenant],
  )
  if (rowCount) throw conflict('a bulk job of the tenant is running: wait for its end or cancel it')
}

/**
 * Reserves new ids for the copied rows. Those of the log are above all ids of both cells, so that a client that has followed the
 * tenant in the other cell misses none.
 */
export async function reserveIds({ source, destination }: CellPair, tenant: string): Promise<IdShifts> {
  // Their ids are unique within a tenant, so they stay; no later row gets one of them.
  for (const table of ['saga_notes', 'saga_bulk_jobs'])
    await raiseSequence(destination, table, (await idsOf(source, table, tenant)).highest, 0n)
  const shiftOf = async (table: string, above: bigint) => {
    const { lowest, highest, count } = await idsOf(source, table, tenant)
    if (count === 0n) return 0n
    return (await raiseSequence(destination, table, above, highest - lowest + 1n)) + 1n - lowest
  }
  return {
    events: await shiftOf('saga_events', await raiseSequence(source, 'saga_events', 0n, 0n)),
    webhooks: await shiftOf('webhooks', 0n),
  }
}

async function idsOf({ pool }: Pool, table: string, tenant: string) {
  const { rows } = await pool.query<Record<'lowest' | 'highest' | 'count', string>>(
    `SELECT coalesce(min(id), 0) AS lowest, coalesce(max(id), 0) AS highest, count(*) FROM ${table} WHERE tenant = $1`,
    [tenant],
  )
  const { lowest = '0', highest = '0', count = '0' } = rows[0] ?? {}
  return { lowest: BigInt(lowest), highest: BigInt(highest), count: BigInt(count) }
}

/** Reserves `span` ids after `above` and after all that are in use. Gives the id before the first of them. */
const raiseSequence = (database: Pool, table: string, above: bigint, span: bigint): Promise<bigint> =>
  withShortLocks(database, async (client) => {
    const sequence = `${table}_id_seq`
    // Nobody draws an id until this has ended.
    await client.query(`ALTER SEQUENCE ${sequence} INCREMENT BY 1`)
    const { rows } = await client.query<{ base: string }>(
      `SELECT setval('${sequence}', greatest(last_value, $1) + $2) - $2::bigint AS base FROM ${sequence}`,
      [String(above), String(span)],
    )
    return BigInt(rows[0]?.base ?? 0)
  })

const lockCopies = "SELECT pg_advisory_xact_lock(hashtextextended('switchyard.saga_tenant_copy', 0))"

/** Whether a move has copied all rows. Waits for the end of its transaction, which may outlive a run that was killed. */
export const isCopied = ({ pool }: Pool, moveId: string): Promise<boolean> =>
  inPoolTransaction(pool, async (client) => {
    await client.query(lockCopies)
    return (await client.query('SELECT FROM saga_tenant_copies WHERE move_id = $1', [moveId])).rowCount === 1
  })

/** Forgets that a move has copied all rows, when nothing depends on it any more. */
export async function forgetCopy({ pool }: Pool, moveId: string): Promise<void> {
  await pool.query('DELETE FROM saga_tenant_copies WHERE move_id = $1', [moveId])
}

/**
 * Copies all rows of a tenant as they are at one moment, in one transaction: the destination has all of them and the id of the
 * move, or nothing. It must be called while nobody writes rows of the tenant.
 *
 * @throws DomainError conflict when the destination already has rows of the tenant, or when the copied rows differ from the
 *   original ones
 */
export async function copyTenant(
  { source, destination }: CellPair,
  { tenant, moveId }: { tenant: string; moveId: string },
  shifts: IdShifts,
): Promise<void> {
  await addPartitions({ source, destination }, tenant)
  await inPoolTransaction(
    source.pool,
    (from) =>
      inPoolTransaction(destination.pool, async (to) => {
        await to.query(lockCopies)
        if (await holdsTenant(destination, tenant))
          throw conflict('the new cell has other rows of the tenant')
        for (const { name, changed, leftOut } of tenantTables)
          await copyTable(from, to, { name, tenant, changed: changed?.(shifts) ?? {}, leftOut })
        await to.query('INSERT INTO saga_tenant_copies (move_id) VALUES ($1)', [moveId])
      }),
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  )
}

/** The log is divided by days. */
async function addPartitions({ source, destination }: CellPair, tenant: string): Promise<void> {
  const { rows } = await source.pool.query<{ day: string }>(
    `SELECT DISTINCT (received_at AT TIME ZONE 'UTC')::date::text AS day FROM saga_events WHERE tenant = $1 ORDER BY 1`,
    [tenant],
  )
  for (const { day } of rows)
    await withShortLocks(destination, (client) =>
      client.query('SELECT ensure_saga_event_partitions($1, 1)', [day]),
    )
}

interface TableCopy {
  name: string
  tenant: string
  changed: Record<string, string>
  leftOut: string | undefined
}

async function copyTable(
  from: PoolClient,
  to: PoolClient,
  { name, tenant, changed, leftOut }: TableCopy,
): Promise<void> {
  const { rows } = await from.query<{ column: string }>(
    `SELECT attname AS column FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [name],
  )
  const columns = rows.map(({ column }) => pg.escapeIdentifier(column)).join(', ')
  const values = rows.map(({ column }) => {
    const quoted = pg.escapeIdentifier(column)
    return column in changed ? `${changed[column]} AS ${quoted}` : quoted
  })
  const kept = leftOut === undefined ? '' : ` AND NOT coalesce(${leftOut}, false)`
  const selected = `SELECT ${values.join(', ')} FROM ${name} WHERE ${ofTenant(name, tenant)}${kept}`
  await pipeline(
    from.query(copyTo(`COPY (${selected}) TO STDOUT`)),
    to.query(copyFrom(`COPY ${name} (${columns}) FROM STDIN`)),
  )
  const wanted = await sumOf(from, selected)
  const copied = await sumOf(to, `SELECT ${columns} FROM ${name} WHERE ${ofTenant(name, tenant)}`)
  if (wanted !== copied) throw conflict(`the copy of ${name} is not equal to its rows`)
}

/** The number of rows, and a checksum of their content. */
async function sumOf(client: PoolClient, selected: string): Promise<string> {
  const { rows } = await client.query<{ sum: string }>(
    `SELECT concat_ws(' ', count(*), sum(hashtextextended(r::text, 0)::numeric)) AS sum FROM (${selected}) r`,
  )
  return rows[0]?.sum ?? ''
}
