import type { Database } from '../../client.js'

type Pool = Pick<Database, 'pool'>

/** A row of the map that leads a tenant to its cell. */
export interface TenantCell {
  tenant: string
  /** Null while the tenant is being placed. */
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

/** The cell of a tenant; undefined when the map does not name it, null while it is being placed. */
export async function findTenantCell({ pool }: Pool, tenant: string): Promise<string | null | undefined> {
  const { rows } = await pool.query<Pick<TenantCell, 'cell'>>(
    'SELECT cell FROM saga_tenant_cells WHERE tenant = $1',
    [tenant],
  )
  return rows[0]?.cell
}

/** @param cell null: the tenant is being placed */
export async function setTenantCell({ pool }: Pool, tenant: string, cell: string | null): Promise<void> {
  await pool.query(
    `INSERT INTO saga_tenant_cells AS known (tenant, cell, changed_at) VALUES ($1, $2, clock_timestamp())
      ON CONFLICT (tenant) DO UPDATE SET cell = excluded.cell, changed_at = excluded.changed_at`,
    [tenant, cell],
  )
}

const tablesOfTenants = ['saga_events', 'sagas', 'saga_activities', 'saga_tombstones', 'webhooks']

/** Whether this database holds anything of a tenant. */
export async function holdsTenant({ pool }: Pool, tenant: string): Promise<boolean> {
  const found = tablesOfTenants.map((table) => `EXISTS (SELECT FROM ${table} WHERE tenant = $1)`)
  const { rows } = await pool.query<{ holds: boolean }>(`SELECT ${found.join(' OR ')} AS holds`, [tenant])
  return rows[0]?.holds ?? false
}
