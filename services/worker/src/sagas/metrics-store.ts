import type { Pooled } from '@switchyard/db'

/** Counts of one service at an instant; the service is null where none was named. */
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
  /** Activities without a saga, of no service. */
  parkedActivities: number
}

/** Reads only sagas that have not ended, by the index that holds no other sagas. */
const openSagas = `SELECT service_name AS "serviceName", status, count(*)::int AS count,
    EXTRACT(epoch FROM clock_timestamp() - min(first_seen_at))::double precision AS "oldestSeconds"
  FROM sagas WHERE ended_at IS NULL GROUP BY service_name, status`

/**
 * An ended saga may be in error too. There are few tenants, and each takes one look-up in the index by
 * status.
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

/** The numbers of sagas and activities by service and status, for the gauges. */
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
