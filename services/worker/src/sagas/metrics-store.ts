import type { Pooled } from '@switchyard/db'
import { findLogHorizon, readLastPosition } from '@switchyard/saga-store'
import { readSweepPosition, writeSweepPosition } from '../sweeps.js'

/** Counts of a service at an instant. The name is null for sagas whose events name no service. */
export interface SagaCount {
  serviceName: string | null
  count: number
}

export interface SagaGauges {
  open: (SagaCount & { status: string; oldestSeconds: number })[]
  error: SagaCount[]
  stuck: SagaCount[]
  /** Counts of activities. */
  overdue: SagaCount[]
  /** Activities without a saga, and thus without a service. */
  parkedActivities: number
}

/** A query for sagas that have not ended, with an index that contains no other sagas. */
const openSagas = `SELECT service_name AS "serviceName", status, count(*)::int AS count,
    EXTRACT(epoch FROM clock_timestamp() - min(first_seen_at))::double precision AS "oldestSeconds"
  FROM sagas WHERE ended_at IS NULL GROUP BY service_name, status`

/**
 * A query for sagas in error, which may have ended. There are few tenants, and each takes one look-up in the
 * index by status.
 */
const sagasInError = `WITH RECURSIVE tenants AS (
    (SELECT tenant FROM sagas ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT s.tenant FROM sagas s WHERE s.tenant > t.tenant ORDER BY s.tenant LIMIT 1)
    FROM tenants t WHERE t.tenant IS NOT NULL
  )
  SELECT s.service_name AS "serviceName", count(*)::int AS count
  FROM tenants t JOIN sagas s ON s.tenant = t.tenant AND s.status = 'Error' GROUP BY s.service_name`

const flagged = `SELECT f.kind, s.service_name AS "serviceName", count(*)::int AS count
  FROM saga_flags f LEFT JOIN sagas s ON s.tenant = f.tenant AND s.id = f.saga_id
  WHERE f.kind IN ('stuck', 'overdue') GROUP BY f.kind, s.service_name`

const parkedActivities = `SELECT count(*)::int AS count FROM saga_flags WHERE kind = 'parked' AND activity_id <> ''`

/** Reads the numbers of sagas and activities by service and status, for the gauges. */
export async function readSagaGauges({ pool }: Pooled): Promise<SagaGauges> {
  const open = await pool.query<SagaGauges['open'][number]>(openSagas)
  const error = await pool.query<SagaCount>(sagasInError)
  const flags = await pool.query<SagaCount & { kind: string }>(flagged)
  const parked = await pool.query<{ count: number }>(parkedActivities)
  return {
    open: open.rows,
    error: error.rows,
    stuck: flags.rows.filter(({ kind }) => kind === 'stuck'),
    overdue: flags.rows.filter(({ kind }) => kind === 'overdue'),
    parkedActivities: parked.rows[0]?.count ?? 0,
  }
}

/** Stored name of the sweep that counts ended sagas for the metrics. */
export const metricsSweep = 'figures'
const cursorKey = 'ended'

/** SQL for the log id up to which ended sagas are counted; null while no process counts. */
export const countedUpTo = `(SELECT (position -> '${cursorKey}' ->> 0)::bigint FROM saga_sweeps WHERE name = '${metricsSweep}')`

/** A saga whose end its client has reported. */
export interface EndedSaga {
  serviceName: string | null
  status: string
  outcome: string | null
  /** Null when its start was not reported. */
  durationSeconds: number | null
}

/**
 * Returns the position of the log at which counting continues; the end of the log when no process has counted
 * yet.
 */
export async function readCountedPosition(database: Pooled): Promise<number> {
  const [position] = (await readSweepPosition(database, metricsSweep))[cursorKey] ?? []
  return position === undefined ? readLastPosition(database) : Number(position)
}

export const writeCountedPosition = (database: Pooled, position: number): Promise<void> =>
  writeSweepPosition(database, metricsSweep, { [cursorKey]: [String(position)] })

/** Positions of the log in one query, so that a query after a long pause ends in time. */
const idsAtOnce = 100_000

/**
 * Reads the sagas that have ended after a position of the log, each once, at its first SagaEnded, and the
 * position up to which the log was read. It returns none, and the same position, while an event may still
 * become visible among them.
 */
export async function readNewlyEnded(
  database: Pooled,
  after: number,
): Promise<{ ended: EndedSaga[]; position: number; isAtEnd: boolean }> {
  const horizon = await findLogHorizon(database)
  if (horizon === null || horizon <= after) return { ended: [], position: after, isAtEnd: true }
  const position = Math.min(horizon, after + idsAtOnce)
  const { rows: ended } = await database.pool.query<EndedSaga>(
    `SELECT s.service_name AS "serviceName", s.status, s.outcome,
       EXTRACT(epoch FROM s.ended_at - s.started_at)::double precision AS "durationSeconds"
     FROM (SELECT DISTINCT tenant, saga_id, received_at FROM saga_events
       WHERE id > $1 AND id <= $2 AND operation = 'SagaEnded') e
     JOIN sagas s ON s.tenant = e.tenant AND s.id = e.saga_id AND s.ended_at = e.received_at`,
    [after, position],
  )
  return { ended, position, isAtEnd: position === horizon }
}
