import type { Pooled } from '@switchyard/db'
import {
  countFailures,
  countSagasByKind,
  type FailureCount,
  type FailureGroup,
  groupFailures,
  measureSagaDurations,
  type SagaDurations,
  type SagaKindCount,
  type StatsRange,
} from './store.js'

export interface SagaStats {
  counts: SagaKindCount[]
  durations: SagaDurations[]
  failures: FailureGroup[]
}

/** Most groups of failures that are shown. */
const failureGroupsMax = 50

/** Returns counts, durations and failures of the sagas created in a range of time. */
export async function measureSagas(database: Pooled, range: StatsRange): Promise<SagaStats> {
  const [counts, durations, failures] = await Promise.all([
    countSagasByKind(database, range),
    measureSagaDurations(database, range),
    groupFailures(database, range, failureGroupsMax),
  ])
  return { counts, durations, failures }
}

/** A range of time in buckets of equal length. */
export interface BucketRange {
  from: Date
  to: Date
  bucketSeconds: number
  buckets: number
}

/** Failures by bucket, the earliest first, and their sum. */
export interface FailureCounts {
  count: number
  counts: number[]
}

export interface FailureHistory {
  /** The most frequent causes, in descending order. */
  causes: (FailureCounts & { fingerprint: string; sample: string })[]
  /** All other causes together. */
  other: FailureCounts
}

/** Most causes that are counted separately. */
export const causesMax = 5

/** Counts the failed activities of a tenant in each bucket, by cause. */
export async function measureFailureHistory(
  database: Pooled,
  tenant: string,
  { buckets, ...range }: BucketRange,
): Promise<FailureHistory> {
  return historyOf(await countFailures(database, { tenant, ...range, causesMax }), buckets)
}

function historyOf(rows: readonly FailureCount[], buckets: number): FailureHistory {
  const countsOf = (cause: string | null) => {
    const counts = Array.from({ length: buckets }, () => 0)
    for (const { fingerprint, bucket, count } of rows) if (fingerprint === cause) counts[bucket] = count
    return { count: counts.reduce((sum, count) => sum + count, 0), counts }
  }
  const samples = new Map(rows.map(({ fingerprint, sample }) => [fingerprint, sample ?? '']))
  const causes = [...samples].flatMap(([fingerprint, sample]) =>
    fingerprint === null ? [] : [{ fingerprint, sample, ...countsOf(fingerprint) }],
  )
  return { causes: causes.sort((a, b) => b.count - a.count), other: countsOf(null) }
}
