import { type Readable, readRows } from './read-query.js'

/** Sagas of all services or of one service that were created in a range of time, both ends included. */
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

const valuesOf = ({ tenant, from, to, serviceName }: StatsRange) => [tenant, from, to, serviceName ?? null]

/** How many sagas there are of each service, status and outcome. */
export const countSagasByKind = (database: Readable, range: StatsRange): Promise<SagaKindCount[]> =>
  readRows<SagaKindCount>(database, {
    text: `SELECT s.service_name AS "serviceName", s.status, s.outcome, count(*)::double precision AS count
      FROM sagas s WHERE ${inRange} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    values: valuesOf(range),
  })

export interface SagaDurations {
  serviceName: string | null
  outcome: string | null
  count: number
  /** Milliseconds. */
  p50: number
  p90: number
  p99: number
}

/** Times from start to end of ended sagas, without sagas whose start was received after their end. */
export async function measureSagaDurations(database: Readable, range: StatsRange): Promise<SagaDurations[]> {
  const rows = await readRows<Omit<SagaDurations, 'p50' | 'p90' | 'p99'> & { percentiles: number[] }>(
    database,
    {
      text: `SELECT s.service_name AS "serviceName", s.outcome, count(*)::double precision AS count,
        percentile_disc(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY
          round(extract(epoch FROM s.ended_at - COALESCE(s.started_at, s.first_seen_at)) * 1000)::double precision
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
  /** The number of activities. */
  count: number
  sample: string
  firstSeenAt: Date
  lastSeenAt: Date
  /** Ids of some of the sagas. */
  sagaIds: string[]
}

/** Failures grouped by their text without numbers and ids, the most frequent first. */
export const groupFailures = (database: Readable, range: StatsRange, take: number): Promise<FailureGroup[]> =>
  readRows<FailureGroup>(database, {
    text: `SELECT e.fingerprint, count(*)::double precision AS count,
        min(e.failed_at) AS "firstSeenAt", max(e.failed_at) AS "lastSeenAt",
        left((array_agg(e.text ORDER BY e.first_seen_at DESC))[1], 1000) AS sample,
        (array_agg(DISTINCT e.saga_id))[1:5] AS "sagaIds"
      FROM saga_errors e
      WHERE e.tenant = $1 AND e.first_seen_at >= $2 AND e.first_seen_at <= $3 AND ($4::text IS NULL OR EXISTS (
        SELECT FROM sagas s WHERE s.tenant = e.tenant AND s.id = e.saga_id AND s.service_name = $4))
      GROUP BY e.fingerprint ORDER BY count(*) DESC, e.fingerprint LIMIT $5`,
    values: [...valuesOf(range), take],
  })
