import type { PoolClient } from '@switchyard/db'
import { keyInTenant } from '@switchyard/domain/saga'

/** The key of a saga, an activity or an event. */
export interface TenantKey {
  tenant: string
  id: string
}

export const keyText = ({ tenant, id }: TenantKey): string => keyInTenant(tenant, id)

export const uniqueKeys = (keys: readonly TenantKey[]): TenantKey[] => [
  ...new Map(keys.map((key) => [keyText(key), key])).values(),
]

/**
 * Compares two keys for the order in which every transaction locks and inserts rows of a table. Because of
 * this order, two transactions that need the same rows never wait for each other in a circle.
 */
export function byKey(a: TenantKey, b: TenantKey): number {
  if (a.tenant !== b.tenant) return a.tenant < b.tenant ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** Returns the two parameters of `unnest($1::text[], $2::text[]) AS key(tenant, id)`. */
export const tenantKeyArrays = (keys: readonly TenantKey[]): [string[], string[]] => [
  keys.map(({ tenant }) => tenant),
  keys.map(({ id }) => id),
]

/**
 * Returns SQL that locks the rows of a table in the order of the parameters and reads them. Each key is a
 * look-up of its own. A join would be planned once, often while the table is small, and would then read the
 * whole table for every batch.
 */
export const lockByKey = (table: string, list: string): string =>
  `SELECT key.tenant, locked.* FROM unnest($1::text[], $2::text[]) AS key(tenant, id)
    CROSS JOIN LATERAL (
      SELECT ${list} FROM ${table} AS stored WHERE stored.tenant = key.tenant AND stored.id = key.id FOR UPDATE
    ) AS locked`

const lockActivities = { name: 'saga-activities-lock', text: lockByKey('saga_activities', 'stored.id') }
const lockSagas = { name: 'sagas-lock', text: lockByKey('sagas', 'stored.id') }

export interface LockedKeys {
  activities: readonly TenantKey[]
  sagas: readonly TenantKey[]
}

/**
 * Locks these rows until the transaction ends: first activities, then sagas, each in the order of their keys,
 * as recording does. A row that was read before may have changed by now, and a missing row is not locked.
 */
export async function lockKeys(client: PoolClient, { activities, sagas }: LockedKeys): Promise<void> {
  // The locks that are taken already block reports of other sagas while this transaction waits.
  await client.query("SET LOCAL lock_timeout = '10s'")
  for (const [query, keys] of [
    [lockActivities, activities],
    [lockSagas, sagas],
  ] as const) {
    if (keys.length === 0) continue
    await client.query({ ...query, values: tenantKeyArrays(uniqueKeys(keys).sort(byKey)) })
  }
}
