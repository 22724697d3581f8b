import type { Pooled } from '@switchyard/db'
import { secondsLong } from '@switchyard/db/sql'
import { lastActivityEvent, lastEvent } from '../saga-view-store.js'

/** The sagas that a claimer is able to finish. */
export interface SagaClaim {
  tenant: string
  serviceName: string
  /** Most sagas to lease. */
  take: number
  leaseSeconds: number
  /** Only sagas without an event for this long. */
  idleSecondsMin: number
  /** Name that the claimer gives itself. */
  worker: string
  /** Whether to include sagas with status Error, whose compensation was given up. */
  withErrors: boolean
}

export interface SagaLeaseGrant {
  sagaId: string
  token: string
  leasedUntil: Date
  /** Number of leases of the saga since its last lease that ended as done, including this one. */
  attempt: number
}

const pauseSeconds = { first: 15, max: 3600 }

/**
 * Returns the SQL of the pause after this number of attempts: it doubles with each attempt, and is randomly
 * shortened by up to a half, so that sagas that failed together do not come back together.
 */
const pauseAfter = (attempts: string): string =>
  `least(${pauseSeconds.max}, ${pauseSeconds.first} * power(2, least(${attempts}, 20) - 1))
    * (0.5 + random() / 2) * interval '1 second'`

/**
 * Returns the condition that the lease has ended and its pause is over. A lease that ended as done also needs
 * newer events.
 */
const mayBeLeased = (lease: string, lastEventAt: string) => `(${lease}.available_at <= now()
    AND (${lease}.resolution IS DISTINCT FROM 'done' OR ${lastEventAt} > ${lease}.resolved_at))`

const claim = (statuses: string, name: string) => ({
  name,
  // This does not use `leaseRows`, because the lease is a separate row, which is created here. A claimer
  // skips sagas that another claimer has locked. When the other claimer has committed since this statement
  // began, its lease is not visible to the SELECT. The condition of the INSERT sees the newest lease, and
  // decides. Claimers insert in the order of the key, so that they do not wait for locks in a circle.
  // The answer begins with the longest idle saga, because only the first saga of a message always fits.
  text: `WITH candidates AS (
      SELECT s.tenant, s.id, ${lastEvent} AS last_event_at
      FROM sagas s LEFT JOIN saga_leases l ON l.tenant = s.tenant AND l.saga_id = s.id
      WHERE s.tenant = $1 AND s.service_name = $2 AND ${statuses}
        AND s.last_event_at <= now() - ${secondsLong('$3')}
        AND NOT COALESCE(${lastActivityEvent} > now() - ${secondsLong('$3')}, false)
        AND (s.resolved_at IS NULL OR ${lastEvent} > s.resolved_at)
        AND (l.saga_id IS NULL OR ${mayBeLeased('l', lastEvent)})
      ORDER BY s.last_event_at LIMIT $4
      FOR NO KEY UPDATE OF s SKIP LOCKED
    ), leased AS (
      INSERT INTO saga_leases AS l
        (tenant, saga_id, token, worker, leased_at, leased_until, attempts, available_at)
      SELECT tenant, id, gen_random_uuid(), $5, now(), now() + ${secondsLong('$6')}, 1,
        now() + ${secondsLong('$6')} + ${pauseAfter('1')}
      FROM candidates ORDER BY tenant, id
      ON CONFLICT (tenant, saga_id) DO UPDATE SET token = EXCLUDED.token, worker = EXCLUDED.worker,
        leased_at = EXCLUDED.leased_at, leased_until = EXCLUDED.leased_until, attempts = l.attempts + 1,
        available_at = EXCLUDED.leased_until + ${pauseAfter('l.attempts + 1')},
        resolution = NULL, resolved_at = NULL
      WHERE ${mayBeLeased(
        'l',
        '(SELECT c.last_event_at FROM candidates c WHERE c.tenant = l.tenant AND c.id = l.saga_id)',
      )}
      RETURNING l.tenant, l.saga_id, l.token, l.leased_until, l.attempts
    )
    SELECT l.saga_id AS "sagaId", l.token, l.leased_until AS "leasedUntil", l.attempts AS attempt
    FROM leased l JOIN candidates c ON c.tenant = l.tenant AND c.id = l.saga_id
    ORDER BY c.last_event_at, c.id`,
})

const unfinished = claim("s.ended_at IS NULL AND s.status <> 'Error'", 'saga-lease-claim')
// A saga may have ended before its compensation was given up.
const unfinishedOrFailed = claim(
  "s.status IN ('Pending', 'Started', 'Overtime', 'Error')",
  'saga-lease-claim-with-errors',
)

/**
 * Leases unfinished sagas of a service without recent events, and returns the longest idle first. Any number
 * of claimers may run in any number of processes: no saga is leased to two of them. Times are the database's.
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

/** A lease, as its holder identifies it. */
export interface LeaseKey {
  token: string
  /** The only tenants whose leases are visible; null: all tenants. */
  tenants: readonly string[] | null
}

/** done: nothing is left to do; failed: the attempt failed; returned: nothing was tried. */
export type LeaseResolution = 'done' | 'failed' | 'returned'

const extend = {
  name: 'saga-lease-extend',
  text: `UPDATE saga_leases l SET leased_until = until.time, available_at = until.time + ${pauseAfter('l.attempts')}
    FROM (SELECT now() + ${secondsLong('$2')} AS time) until
    WHERE l.token = $1 AND l.resolution IS NULL AND l.leased_until > now()
      AND ($3::text[] IS NULL OR l.tenant = ANY ($3))
    RETURNING l.leased_until AS "leasedUntil"`,
}

/** Extends a lease and returns its new end; null when the lease has ended already. */
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
 * The column stores milliseconds. This time is rounded down, because a time that is rounded up would be in
 * the future.
 */
const thisMillisecond = "date_trunc('milliseconds', now())"

/**
 * Ends leases. It sets when the sagas may be leased again: after the pause, or at once. A return without a
 * note keeps the note of the lease before, so that operators still see why that attempt failed.
 */
const resolve = {
  name: 'saga-lease-resolve',
  text: `UPDATE saga_leases l SET resolution = $2, resolved_at = now(), leased_until = now(),
      note = CASE WHEN $2 = 'returned' THEN COALESCE($3, l.note) ELSE $3 END,
      attempts = CASE $2 WHEN 'failed' THEN l.attempts WHEN 'done' THEN 0 ELSE greatest(l.attempts - 1, 0) END,
      available_at = CASE WHEN $2 = 'failed' THEN now() + ${pauseAfter('l.attempts')} ELSE ${thisMillisecond} END
    WHERE l.token = ANY ($1::uuid[]) AND l.resolution IS NULL AND l.leased_until > now()
      AND ($4::text[] IS NULL OR l.tenant = ANY ($4))
    RETURNING l.available_at AS "availableAt"`,
}

const resolved = {
  name: 'saga-lease-resolved',
  text: `SELECT l.available_at AS "availableAt" FROM saga_leases l
    WHERE l.token = $1 AND l.resolution = $2 AND ($3::text[] IS NULL OR l.tenant = ANY ($3))`,
}

/**
 * Ends a lease. Ending it again with the same resolution succeeds, because the first answer may have been
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
  const ended = await pool.query<Row>({ ...resolve, values: [[token], resolution, note, tenants] })
  if (ended.rows[0]) return ended.rows[0].availableAt
  const before = await pool.query<Row>({ ...resolved, values: [token, resolution, tenants] })
  return before.rows[0]?.availableAt ?? null
}

/** Gives back leases with which nothing was tried. */
export async function returnLeases({ pool }: Pooled, tokens: readonly string[]): Promise<void> {
  await pool.query({ ...resolve, values: [tokens, 'returned' satisfies LeaseResolution, null, null] })
}
