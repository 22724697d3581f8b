import type { Pooled } from '@switchyard/db'
import { readRows } from '../limited-database.js'

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

export interface FailureHistoryQuestion {
  tenant: string
  /** Start of the first bucket. */
  from: Date
  /** Latest failure that counts, inclusive. */
  to: Date
  bucketSeconds: number
  /** Most causes that are counted separately: the most frequent ones. */
  causesMax: number
}

/** Failures of one cause in one bucket. */
export interface FailureCount {
  /** Null: all causes that are not counted separately. */
  fingerprint: string | null
  /** The latest error text of the cause. */
  sample: string | null
  /** Number of the bucket, from 0. */
  bucket: number
  count: number
}

/**
 * Counts failed activities by cause and time bucket. A failure counts when its saga was first seen within a
 * day of the requested time, because the index of errors is ordered by sagas.
 */
export const countFailures = (
  database: Pooled,
  { tenant, from, to, bucketSeconds, causesMax }: FailureHistoryQuestion,
): Promise<FailureCount[]> =>
  readRows<FailureCount>(database, {
    text: `WITH counted AS MATERIALIZED (
        SELECT e.fingerprint, floor(extract(epoch FROM e.failed_at - $2::timestamptz) / $4)::int AS bucket,
          count(*) AS count
        FROM saga_errors e
        WHERE e.tenant = $1 AND e.first_seen_at >= $2::timestamptz - interval '1 day'
          AND e.first_seen_at <= $3::timestamptz + interval '1 day' AND e.failed_at >= $2 AND e.failed_at <= $3
        GROUP BY 1, 2),
      causes AS MATERIALIZED (
        SELECT fingerprint FROM counted GROUP BY fingerprint ORDER BY sum(count) DESC, fingerprint LIMIT $5),
      sampled AS MATERIALIZED (
        SELECT fingerprint, (SELECT left(e.text, 1000) FROM saga_errors e
          WHERE e.tenant = $1 AND e.fingerprint = causes.fingerprint ORDER BY e.first_seen_at DESC LIMIT 1) AS sample
        FROM causes)
      SELECT s.fingerprint, s.sample, c.bucket, sum(c.count)::double precision AS count
      FROM counted c LEFT JOIN sampled s ON s.fingerprint = c.fingerprint
      GROUP BY 1, 2, 3 ORDER BY 1, 3`,
    values: [tenant, from, to, bucketSeconds, causesMax],
  })
