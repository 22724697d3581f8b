import type { Pooled } from '@switchyard/db'
import { lastActivityEvent, lastEvent } from '../search/source.js'

/** The sagas that a claimer is able to finish. */
export interface SagaClaim {
  tenant: string
  serviceName: string
  /** The number of sagas at most. */
  take: number
  leaseSeconds: number
  /** Only sagas that have had no event for this long. */
  idleSecondsMin: number
  /** The claimer's own name. */
  worker: string
  /** Sagas with status Error too, whose compensation was given up. */
  withErrors: boolean
}

export interface SagaLeaseGrant {
  sagaId: string
  token: string
  leasedUntil: Date
  /** How often the saga has been leased since its last lease that ended as done, this lease included. */
  attempt: number
}

const pauseSeconds = { first: 15, max: 3600 }

/**
 * SQL for the pause after this number of attempts: it doubles with each attempt, and is shortened at random
 * by up to a half, so that sagas that failed at the same time do not come back at the same time.
 */
const pauseAfter = (attempts: string): string =>
  `least(${pauseSeconds.max}, ${pauseSeconds.first} * power(2, least(${attempts}, 20) - 1))
    * (0.5 + random() / 2) * interval '1 second'`

const seconds = (parameter: string) => `${parameter}::double precision * interval '1 second'`

/** The lease has ended and its pause is over. A lease that ended as done also needs newer events. */
const mayBeLeased = (lease: string, lastEventAt: string) => `(${lease}.available_at <= now()
    AND (${lease}.resolution IS DISTINCT FROM 'done' OR ${lastEventAt} > ${lease}.resolved_at))`

const claim = (statuses: string, name: string) => ({
  name,
  // Not by `leaseRows`: the lease is a row beside the saga, which is made here.
  // A claimer skips sagas that another claimer has locked, instead of waiting. When the other claimer has
  // committed since this statement began, its lease is not visible to the SELECT. The condition of the
  // INSERT sees the newest lease, and decides.
  text: `WITH candidates AS (
      SELECT s.tenant, s.id, ${lastEvent} AS last_event_at
      FROM sagas s LEFT JOIN saga_leases l ON l.tenant = s.tenant AND l.saga_id = s.id
      WHERE s.tenant = $1 AND s.service_name = $2 AND ${statuses}
        AND s.last_event_at <= now() - ${seconds('$3')}
        AND NOT COALESCE(${lastActivityEvent} > now() - ${seconds('$3')}, false)
        AND (s.resolved_at IS NULL OR ${lastEvent} > s.resolved_at)
        AND (l.saga_id IS NULL OR ${mayBeLeased('l', lastEvent)})
      ORDER BY s.last_event_at LIMIT $4
      FOR NO KEY UPDATE OF s SKIP LOCKED
    )
    INSERT INTO saga_leases AS l
      (tenant, saga_id, token, worker, leased_at, leased_until, attempts, available_at)
    SELECT tenant, id, gen_random_uuid(), $5, now(), now() + ${seconds('$6')}, 1,
      now() + ${seconds('$6')} + ${pauseAfter('1')}
    FROM candidates ORDER BY tenant, id
    ON CONFLICT (tenant, saga_id) DO UPDATE SET token = EXCLUDED.token, worker = EXCLUDED.worker,
      leased_at = EXCLUDED.leased_at, leased_until = EXCLUDED.leased_until, attempts = l.attempts + 1,
      available_at = EXCLUDED.leased_until + ${pauseAfter('l.attempts + 1')},
      resolution = NULL, resolved_at = NULL, note = NULL
    WHERE ${mayBeLeased(
      'l',
      '(SELECT c.last_event_at FROM candidates c WHERE c.tenant = l.tenant AND c.id = l.saga_id)',
    )}
    RETURNING l.saga_id AS "sagaId", l.token, l.leased_until AS "leasedUntil", l.attempts AS attempt`,
})

const unfinished = claim("s.ended_at IS NULL AND s.status <> 'Error'", 'saga-lease-claim')
// A saga may have ended before its compensation was given up.
const unfinishedOrFailed = claim(
  "s.status IN ('Pending', 'Started', 'Overtime', 'Error')",
  'saga-lease-claim-with-errors',
)

/**
 * Leases unfinished sagas of a service that have had no events for a while, the longest idle first. Any
 * number of claimers may run in any number of processes: no saga is leased to two of them. Times are the
 * database's.
 */
export async function claimSagas({ pool }: Pooled, wanted: SagaClaim): Promise<SagaLeaseGrant[]> {
  const { rows } = await pool.query<SagaLeaseGrant>({
    ...(wanted.withErrors ? unfinishedOrFailed : unfinished),
    values: [
      wanted.tenant,
      wanted.serviceName,
      wanted.idleSecondsMin,
      wanted.take,
      wanted.worker,
      wanted.leaseSeconds,
    ],
  })
  return rows
}

/** A lease, as who holds it names it. */
export interface LeaseKey {
  token: string
  /** The only tenants whose leases are found; null: those of every tenant. */
  tenants: readonly string[] | null
}

/** done: nothing is left to do; failed: it did not work; returned: it was not tried. */
export type LeaseResolution = 'done' | 'failed' | 'returned'

const extend = {
  name: 'saga-lease-extend',
  text: `UPDATE saga_leases l SET leased_until = until.time, available_at = until.time + ${pauseAfter('l.attempts')}
    FROM (SELECT now() + $2::double precision * interval '1 second' AS time) until
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
      AND ($3::text[] IS NULL OR l.tenant = ANY ($3))
    RETURNING l.leased_until AS "leasedUntil"`,
}

/** The new end of the lease; null when the lease has ended already. */
export async function extendLease(
  { pool }: Pooled,
  { token, tenants }: LeaseKey,
  leaseSeconds: number,
): Promise<Date | null> {
  const values = [token, leaseSeconds, tenants]
  const { rows } = await pool.query<{ leasedUntil: Date }>({ ...extend, values })
  return rows[0]?.leasedUntil ?? null
}

/**
 * The column holds milliseconds. A time that is rounded up would be in the future, so this one is rounded
 * down.
 */
const thisMillisecond = "date_trunc('milliseconds', now())"

/** When the saga may be leased again: after the pause, or at once. */
const resolve = {
  name: 'saga-lease-resolve',
  text: `UPDATE saga_leases l SET resolution = $2, resolved_at = now(), note = $3, leased_until = now(),
      attempts = CASE $2 WHEN 'failed' THEN l.attempts WHEN 'done' THEN 0 ELSE greatest(l.attempts - 1, 0) END,
      available_at = CASE WHEN $2 = 'failed' THEN now() + ${pauseAfter('l.attempts')} ELSE ${thisMillisecond} END
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
      AND ($4::text[] IS NULL OR l.tenant = ANY ($4))
    RETURNING l.available_at AS "availableAt"`,
}

const resolved = {
  name: 'saga-lease-resolved',
  text: `SELECT l.available_at AS "availableAt" FROM saga_leases l
    WHERE l.token = $1 AND l.resolution = $2 AND ($3::text[] IS NULL OR l.tenant = ANY ($3))`,
}

/**
 * Ends a lease. Ending it again with the same resolution is no error, because the first answer may have been
 * lost.
 *
 * @returns the time from which the saga may be leased again; null when the lease has ended in another way
 */
export async function resolveLease(
  { pool }: Pooled,
  { token, tenants }: LeaseKey,
  { resolution, note }: { resolution: LeaseResolution; note: string | null },
): Promise<Date | null> {
  type Row = { availableAt: Date }
  const ended = await pool.query<Row>({ ...resolve, values: [token, resolution, note, tenants] })
  if (ended.rows[0]) return ended.rows[0].availableAt
  const before = await pool.query<Row>({ ...resolved, values: [token, resolution, tenants] })
  return before.rows[0]?.availableAt ?? null
}
