import type { Database } from '../../../client.js'
import { statement } from '../statement.js'
import { pauseAfter } from './claim.js'

type Pool = Pick<Database, 'pool'>

/** done: nothing is left to do; failed: it did not work; returned: it was not tried. */
export type LeaseResolution = 'done' | 'failed' | 'returned'

const extend = statement(
  `UPDATE saga_leases l SET leased_until = until.time, available_at = until.time + ${pauseAfter('l.attempts')}
    FROM (SELECT now() + $2::double precision * interval '1 second' AS time) until
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
    RETURNING l.leased_until AS "leasedUntil"`,
  'saga-lease-extend',
)

/** The new end of the lease; null when the lease has ended already. */
export async function extendLease({ pool }: Pool, token: string, leaseSeconds: number): Promise<Date | null> {
  const { rows } = await pool.query<{ leasedUntil: Date }>({ ...extend, values: [token, leaseSeconds] })
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
    RETURNING l.available_at AS "availableAt"`,
  'saga-lease-resolve',
)

const resolved = statement(
  'SELECT l.available_at AS "availableAt" FROM saga_leases l WHERE l.token = $1 AND l.resolution = $2',
  'saga-lease-resolved',
)

/**
 * Ends a lease. Ending it again with the same resolution is no error, because the first answer may have been lost.
 *
 * @returns the time from which the saga may be leased again; null when the lease has ended in another way
 */
export async function resolveLease(
  { pool }: Pool,
  token: string,
  { resolution, note }: { resolution: LeaseResolution; note: string | null },
): Promise<Date | null> {
  type Row = { availableAt: Date }
  const ended = await pool.query<Row>({ ...resolve, values: [token, resolution, note] })
  if (ended.rows[0]) return ended.rows[0].availableAt
  const before = await pool.query<Row>({ ...resolved, values: [token, resolution] })
  return before.rows[0]?.availableAt ?? null
}
