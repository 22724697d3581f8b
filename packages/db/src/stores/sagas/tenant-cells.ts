import type { Database } from '../../client.js'

type Pool = Pick<Database, 'pool'>

/** A row of the map that leads a tenant to its cell. */
export interface TenantCell {
  tenant: string
  /** Null while the tenant moves. */
  cell: string | null
  changedAt: Date
}

/** The rows that have changed since a time, that of the newest row that is known; null: all rows. */
export async function listTenantCells({ pool }: Pool, since: Date | null): Promise<TenantCell[]> {
  // Transactions commit in another order than they take their time, so the last minute is read again.
  const { rows } = await pool.query<TenantCell>({
    name: 'saga-tenant-cells',
    text: `SELECT tenant, cell, changed_at AS "changedAt" FROM saga_tenant_cells
      WHERE changed_at > coalesce($1::timestamptz - interval '1 minute', '-infinity')`,
    values: [since],
  })
  return rows
}

/** Where a tenant is, and its move when one is under way. */
export interface TenantPlace {
  /** Null while nobody takes events of the tenant. */
  cell: string | null
  /** Null in all three: it does not move. */
  movesFrom: string | null
  movesTo: string | null
  /** A UUID. */
  moveId: string | null
}

/** With the time since when it is so; undefined when the map does not name the tenant. */
export async function findTenantPlace(
  { pool }: Pool,
  tenant: string,
): Promise<(TenantPlace & { sinceMs: number }) | undefined> {
  const { rows } = await pool.query<TenantPlace & { sinceMs: number }>(
    `SELECT cell, moves_from AS "movesFrom", moves_to AS "movesTo", move_id AS "moveId",
        EXTRACT(epoch FROM clock_timestamp() - changed_at)::float8 * 1000 AS "sinceMs"
      FROM saga_tenant_cells WHERE tenant = $1`,
    [tenant],
  )
  return rows[0]
}

export async function setTenantPlace(
  { pool }: Pool,
  tenant: string,
  { cell, movesFrom, movesTo, moveId }: TenantPlace,
): Promise<void> {
  await pool.query(
    `INSERT INTO saga_tenant_cells AS known (tenant, cell, moves_from, moves_to, move_id, changed_at)
      VALUES ($1, $2, $3, $4, $5, clock_timestamp())
      ON CONFLICT (tenant) DO UPDATE SET cell = excluded.cell, moves_from = excluded.moves_from,
        moves_to = excluded.moves_to, move_id = excluded.move_id, changed_at = excluded.changed_at`,
    [tenant, cell, movesFrom, movesTo, moveId],
  )
}
