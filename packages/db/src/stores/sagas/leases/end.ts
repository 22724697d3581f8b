import type { Database } from '../../../client.js'
import { statement } from '../../../pool-transaction.js'
import { pauseAfter } from './claim.js'

type Pool = Pick<Database, 'pool'>

/** A lease, as who holds it names it. */
export interface LeaseKey {
  token: string
  /** The only tenants whose leases are found; null: those of every tenant. */
  tenants: readonly string[] | null
}

/** done: nothing is left to do; failed: it did not work; returned: it was not tried. */
export type LeaseResolution = 'done' | 'failed' | 'returned'

const extend = statement(
  `UPDATE saga_leases l SET leased_until = until.time, available_at = until.time + ${pauseAfter('l.attempts')}
    FROM (SELECT now() + $2::double precision * interval '1 second' AS time) until
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
      AND ($3::text[] IS NULL OR l.tenant = ANY ($3))
    RETURNING l.leased_until AS "leasedUntil"`,
  'saga-lease-extend',
)

/** The new end of the lease; null when the lease has ended already. */
export async function extendLease(
  { pool }: Pool,
  { token, tenants }: LeaseKey,
  leaseSeconds: number,
): Promise<Date | null> {
  const values = [token, leaseSeconds, tenants]
  const { rows } = await pool.query<{ leasedUntil: Date }>({ ...extend, values })
  return rows[0]?.leasedUntil ?? null
}

/** The column holds milliseconds. A time that is rounded up would be in the future, so this one is rounded down. */
const thisMillisecond = "date_trunc('milliseconds', now())"

/** When the saga may be leased again: after the pause, or at once. */
const resolve = statement(
  `UPDATE saga_leases l SET resolution = $2, resolved_at = now(), note = $3, leased_until = now(),
      attempts = CASE $2 WHEN 'failed' THEN l.attempts WHEN 'done' THEN 0 ELSE greatest(l.attempts - 1, 0) END,
      available_at = CASE WHEN $2 = 'failed' THEN now() + ${pauseAfter('l.attempts')} ELSE ${thisMillisecond} END
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
      AND ($4::text[] IS NULL OR l.tenant = ANY ($4))
    RETURNING l.available_at AS "availableAt"`,
  'saga-lease-resolve',
)

const resolved = statement(
  `SELECT l.available_at AS "availableAt" FROM saga_leases l
    WHERE l.token = $1 AND l.resolution = $2 AND ($3::text[] IS NULL OR l.tenant = ANY ($3))`,
  'saga-lease-resolved',
)

/**
 * Ends a lease. Ending it again with the same resolution is no error, because the first answer may have been lost.
 *
 * @returns the time from which the saga may be leased again; null when the lease has ended in another way
 */
export async function resolveLease(
  { pool }: Pool,
  { token, tenants }: LeaseKey,
  { resolution, note }: { resolution: LeaseResolution; note: string | null },
): Promise<Date | null> {
  type Row = { availableAt: Date }
  const ended = await pool.query<Row>({ ...resolve, values: [token, resolution, note, tenants] })
  if (ended.rows[0]) return ended.rows[0].availableAt
  const before = await pool.query<Row>({ ...resolved, values: [token, resolution, tenants] })
  return before.rows[0]?.availableAt ?? null
}
