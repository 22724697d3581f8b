import pg, { type PoolClient } from 'pg'
import type { Database } from '../../../client.js'

/** Marks webhooks that are disabled only while their tenant moves. */
export const movingReason = 'the tenant moves to another cell'

/** Numbers that the copy adds to the ids of rows, because other rows of the new cell may have the same ids. */
export interface IdShifts {
  events: bigint
  webhooks: bigint
}

interface TenantTable {
  name: string
  /** A constraint refuses writes of the tenant's rows during the copy. */
  isFenced: boolean
  /** SQL of the columns that differ in the copy. */
  changed?: (shifts: IdShifts) => Record<string, string>
  /** SQL for rows that are not copied, because the other cell makes them itself. */
  leftOut?: string
}

const plain = (name: string): TenantTable => ({ name, isFenced: true })

/** Flags whose deliveries may not be stored yet are left out: the worker of the other cell sets them and stores the deliveries. */
const flagsWithoutDelivery = `set_at > (SELECT flags_set_at FROM webhook_cursors WHERE name = 'sagas') - interval '30 seconds'`

/** Every table with rows of tenants, in an order that foreign keys allow. A test compares it with the catalog. */
export const tenantTables: readonly TenantTable[] = [
  { ...plain('saga_events'), changed: ({ events }) => ({ id: `id + ${events}` }) },
  ...['saga_event_ids', 'sagas', 'saga_activities', 'saga_tags', 'saga_leases', 'saga_notes'].map(plain),
  ...['saga_errors', 'saga_bulk_jobs', 'saga_bulk_items'].map(plain),
  { name: 'saga_flags', isFenced: false, leftOut: flagsWithoutDelivery },
  { name: 'saga_tombstones', isFenced: false },
  {
    name: 'webhooks',
    // Attempts of deliveries are recorded here until they have ended.
    isFenced: false,
    changed: ({ webhooks }) => ({
      id: `id + ${webhooks}`,
      // Users are known in the cell default alone.
      created_by: 'NULL::integer',
      enabled: `enabled OR disabled_reason IS NOT DISTINCT FROM '${movingReason}'`,
      disabled_reason: `NULLIF(disabled_reason, '${movingReason}')`,
      disabled_at: `CASE WHEN disabled_reason IS DISTINCT FROM '${movingReason}' THEN disabled_at END`,
    }),
  },
  {
    name: 'webhook_deliveries',
    isFenced: false,
    changed: ({ webhooks }) => ({ webhook_id: `webhook_id + ${webhooks}` }),
  },
]

/** SQL for the rows of a tenant. */
export const ofTenant = (table: string, tenant: string): string =>
  table === 'webhook_deliveries'
    ? `webhook_id IN (SELECT id FROM webhooks WHERE tenant = ${pg.escapeLiteral(tenant)})`
    : `tenant = ${pg.escapeLiteral(tenant)}`

/** Whether this database holds anything of a tenant. */
export async function holdsTenant({ pool }: Pick<Database, 'pool'>, tenant: string): Promise<boolean> {
  const found = tenantTables.map(({ name }) => `EXISTS (SELECT FROM ${name} WHERE ${ofTenant(name, tenant)})`)
  const { rows } = await pool.query<{ holds: boolean }>(`SELECT ${found.join(' OR ')} AS holds`)
  return rows[0]?.holds ?? false
}

const rowsAtOnce = 5000

/** Deletes all rows of a tenant, some thousand at a time. It may be interrupted and run again. */
export async function deleteTenant({ pool }: Pick<Database, 'pool'>, tenant: string): Promise<void> {
  const client = await pool.connect()
  try {
    for (const { name } of tenantTables.toReversed()) {
      // A ctid, the place of a row, is unique within one partition only.
      const { rows } = await client.query<{ table: string }>(
        'SELECT relid::regclass::text AS table FROM pg_partition_tree($1::regclass) WHERE isleaf',
        [name],
      )
      for (const { table } of rows.length > 0 ? rows : [{ table: name }])
        while (await deleteRows(client, table, ofTenant(name, tenant)));
    }
  } finally {
    client.release(true)
  }
}

/** Deletes the rows that are there, and says whether there were any: a row that is written meanwhile has another place. */
async function deleteRows(client: PoolClient, table: string, condition: string): Promise<boolean> {
  let isEmpty = true
  // One search finds all places: one for each batch would come upon what was deleted before again and again.
  await client.query(
    `DECLARE places CURSOR WITH HOLD FOR SELECT ctid::text AS place FROM ${table} WHERE ${condition}`,
  )
  for (;;) {
    const { rows } = await client.query<{ place: string }>(`FETCH ${rowsAtOnce} FROM places`)
    if (rows.length === 0) break
    isEmpty = false
    // A place may have been given to another row.
    await client.query(`DELETE FROM ${table} WHERE ctid = ANY ($1::tid[]) AND ${condition}`, [
      rows.map(({ place }) => place),
    ])
  }
  await client.query('CLOSE places')
  return !isEmpty
}
