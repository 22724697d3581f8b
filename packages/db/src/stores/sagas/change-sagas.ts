import type { PoolClient } from 'pg'
import { inLockOrder, stripeOf } from './lock-stripes.js'

/** A saga or an activity. */
export interface TenantKey {
  tenant: string
  id: string
}

/** As the two parameters of `unnest($1::text[], $2::text[]) AS given(tenant, id)`. */
export const tenantKeyArrays = (keys: readonly TenantKey[]): [string[], string[]] => [
  keys.map(({ tenant }) => tenant),
  keys.map(({ id }) => id),
]

/**
 * Begins a transaction in which nobody else changes these sagas and activities, also those without a row: it takes the
 * locks that recording events takes. Rows are to be read after it.
 */
export async function beginChange(
  client: PoolClient,
  { sagas, activities }: Record<'sagas' | 'activities', readonly TenantKey[]>,
): Promise<void> {
  const stripes = inLockOrder([
    ...sagas.map(({ tenant, id }) => stripeOf('saga', tenant, id)),
    ...activities.map(({ tenant, id }) => stripeOf('activity', tenant, id)),
  ])
  await client.query('BEGIN')
  await client.query('SELECT saga_ingest_lock($1::integer[])', [[...stripes]])
}
