import type { Pooled } from '@switchyard/db'
import { readRows } from '../read-query.js'

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
