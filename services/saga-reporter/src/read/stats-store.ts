import type { Pooled } from '@switchyard/db'
import { readRows } from '../read-query.js'

/** The sagas of all services or of one service that were created in a range of time, both ends included. */
export interface StatsRange {
  tenant: string
  from: Date
  to: Date
  serviceName?: string | undefined
}

export interface SagaKindCount {
  serviceName: string | null
  status: string
  outcome: string | null
  count: number
}

const inRange = `s.tenant = $1 AND s.first_seen_at >= $2 AND s.first_seen_at <= $3
  AND ($4::text IS NULL OR s.service_name = $4)`

const failedInRange = `e.tenant = $1 AND e.first_seen_at >= $2 AND e.first_seen_at <= $3
  AND ($4::text IS NULL OR EXISTS (
    SELECT FROM sagas s WHERE s.tenant = e.tenant AND s.id = e.saga_id AND s.service_name = $4))`

const valuesOf = ({ tenant, from, to, serviceName }: StatsRange) => [tenant, from, to, serviceName ?? null]

/** Counts the sagas of each service, status and outcome. */
export const countSagasByKind = (database: Pooled, range: StatsRange): Promise<SagaKindCount[]> =>
  readRows<SagaKindCount>(database, {
    text: `SELECT s.service_name AS "serviceName", s.status, s.outcome, count(*)::double precision AS count
      FROM sagas s WHERE ${inRange} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    values: valuesOf(range),
  })

export interface SagaDurations {
  serviceName: string | null
  outcome: string | null
  count: number
  /** In milliseconds. */
  p50: number
  p90: number
  p99: number
}

/**
 * Measures the times from start to end of ended sagas, without sagas whose start was received after their
 * end.
 */
export async function measureSagaDurations(database: Pooled, range: StatsRange): Promise<SagaDurations[]> {
  const rows = await readRows<Omit<SagaDurations, 'p50' | 'p90' | 'p99'> & { percentiles: number[] }>(
    database,
    {
      text: `SELECT s.service_name AS "serviceName", s.outcome, count(*)::double precision AS count,
        percentile_disc(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY
          round(date_part('epoch', s.ended_at - COALESCE(s.started_at, s.first_seen_at)) * 1000)
        ) AS percentiles
      FROM sagas s WHERE ${inRange} AND s.ended_at >= COALESCE(s.started_at, s.first_seen_at)
      GROUP BY 1, 2 ORDER BY 1, 2`,
      values: valuesOf(range),
    },
  )
  return rows.map(({ percentiles: [p50 = 0, p90 = 0, p99 = 0], ...row }) => ({ ...row, p50, p90, p99 }))
}

export interface FailureGroup {
  fingerprint: string
  /** Number of activities. */
  count: number
  sample: string
  firstSeenAt: Date
  lastSeenAt: Date
  /** Ids of the newest sagas, five at most. */
  sagaIds: string[]
}

/** Groups failures by their text without numbers and ids, the most frequent group first. */
export const groupFailures = (database: Pooled, range: StatsRange, take: number): Promise<FailureGroup[]> =>
  readRows<FailureGroup>(database, {
    // Texts and ids are read only for the groups that are shown, each from the end of an index.
    text: `WITH groups AS (
      SELECT e.fingerprint, count(*)::double precision AS count, min(e.failed_at) AS first, max(e.failed_at) AS last
      FROM saga_errors e WHERE ${failedInRange}
      GROUP BY e.fingerprint ORDER BY count(*) DESC, e.fingerprint LIMIT $5)
      SELECT fingerprint, count, first AS "firstSeenAt", last AS "lastSeenAt",
        (SELECT left(e.text, 1000) FROM saga_errors e
          WHERE e.fingerprint = groups.fingerprint AND ${failedInRange}
          ORDER BY e.first_seen_at DESC LIMIT 1) AS sample,
        ARRAY(SELECT e.saga_id FROM saga_errors e
          WHERE e.fingerprint = groups.fingerprint AND ${failedInRange}
          GROUP BY e.first_seen_at, e.saga_id ORDER BY e.first_seen_at DESC, e.saga_id LIMIT 5) AS "sagaIds"
      FROM groups ORDER BY count DESC, fingerprint`,
    values: [...valuesOf(range), take],
  })
