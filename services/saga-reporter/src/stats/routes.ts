import type { Pooled } from '@switchyard/db'
import { type Clock, dayMs } from '@switchyard/domain'
import { endpoint, integer, ok, parameterProblem, type Route, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { tenantParameter } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import type { BucketRange, SagaStats } from './stats.js'
import * as stats from './stats.js'
import type { SagaKindCount, StatsRange } from './store.js'

export const statsRoutes = (database: Pooled, clock: Clock): Route[] => [
  tenantRoute('GET', '/sagas/stats', sagaReader, getStats(database, clock)),
  tenantRoute('GET', '/sagas/failure_history', sagaReader, getFailureHistory(database, clock)),
]

/** Measures the last 24 hours by default. */
const getStats = (database: Pooled, clock: Clock) =>
  endpoint({
    summary: 'Get the metrics of the sagas that were created in a period',
    replies: { 200: statsShape },
    input: z.object({
      ...tenantParameter,
      service_name: text().optional(),
      created_after: time().optional(),
      created_before: time().optional(),
    }),
    handle: async ({ tenant, service_name, created_after, created_before }) => {
      const to = created_before ?? clock()
      const from = created_after ?? new Date(to.getTime() - dayMs)
      if (from > to) throw parameterProblem('created_after', 'is after created_before')
      const range = { tenant, from, to, serviceName: service_name }
      return ok(presentStats(range, await stats.measureSagas(database, range)))
    },
  })

const count = z.int()
const kind = { service_name: z.string().nullable(), outcome: z.string().nullable(), count }

const statsShape = z
  .object({
    from: z.date(),
    to: z.date(),
    total: count,
    by_status: z.record(z.string(), count),
    by_outcome: z.record(z.string(), count),
    by_service: z.record(z.string(), count),
    counts: z.array(z.object({ ...kind, status: z.string() })),
    durations: z.array(z.object({ ...kind, p50_ms: z.number(), p90_ms: z.number(), p99_ms: z.number() })),
    failures: z.array(
      z.object({
        fingerprint: z.string(),
        count,
        sample: z.string(),
        first_seen_at: z.date(),
        last_seen_at: z.date(),
        saga_ids: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'SagaStats', description: 'Metrics of the sagas that were created in a time' })

/** Returns metrics of the sagas created in a range of time. */
const presentStats = (
  { from, to }: StatsRange,
  { counts, durations, failures }: SagaStats,
): z.output<typeof statsShape> => ({
  from,
  to,
  total: counts.reduce((sum, { count }) => sum + count, 0),
  by_status: totals(counts, ({ status }) => status),
  by_outcome: totals(counts, ({ outcome }) => outcome),
  by_service: totals(counts, ({ serviceName }) => serviceName),
  counts: counts.map(({ serviceName, status, outcome, count }) => ({
    service_name: serviceName,
    status,
    outcome,
    count,
  })),
  durations: durations.map(({ serviceName, outcome, count, p50, p90, p99 }) => ({
    service_name: serviceName,
    outcome,
    count,
    p50_ms: p50,
    p90_ms: p90,
    p99_ms: p99,
  })),
  failures: failures.map(({ fingerprint, count, sample, firstSeenAt, lastSeenAt, sagaIds }) => ({
    fingerprint,
    count,
    sample,
    first_seen_at: firstSeenAt,
    last_seen_at: lastSeenAt,
    saga_ids: sagaIds,
  })),
})

/** Returns the sums of the counts by a key. Counts without the key are left out. */
function totals(
  counts: SagaKindCount[],
  keyOf: (count: SagaKindCount) => string | null,
): Record<string, number> {
  const sums = new Map<string, number>()
  for (const row of counts) {
    const key = keyOf(row)
    if (key !== null) sums.set(key, (sums.get(key) ?? 0) + row.count)
  }
  return Object.fromEntries(sums)
}

const bucketSecondsDefault = 900
const bucketsMax = 300

/** Counts the last 24 hours by default. */
const getFailureHistory = (database: Pooled, clock: Clock) =>
  endpoint({
    summary: 'Get the number of failed activities in each interval of a period, by cause',
    replies: { 200: failureHistoryShape },
    input: z.object({
      ...tenantParameter,
      failed_after: time().optional().meta({ description: 'Default: a day before `failed_before`' }),
      failed_before: time().optional().meta({ description: 'Default: now' }),
      bucket_seconds: integer()
        .pipe(z.int().min(10).max(86_400))
        .default(bucketSecondsDefault)
        .meta({ description: `Length of a part; a time has at most ${bucketsMax} of them` }),
    }),
    handle: async ({ tenant, failed_after, failed_before, bucket_seconds }) => {
      const to = failed_before ?? clock()
      const after = failed_after ?? new Date(to.getTime() - dayMs)
      if (after > to) throw parameterProblem('failed_after', 'is after failed_before')
      const range = bucketsOf(after, to, bucket_seconds)
      const history = await stats.measureFailureHistory(database, tenant, range)
      return ok({ from: range.from, to, bucket_seconds, ...history })
    },
  })

/**
 * Returns aligned buckets, which are the same for every request, so that a chart does not change as time
 * passes.
 */
function bucketsOf(after: Date, to: Date, bucketSeconds: number): BucketRange {
  const bucketMs = bucketSeconds * 1000
  const from = new Date(Math.floor(after.getTime() / bucketMs) * bucketMs)
  const buckets = Math.floor((to.getTime() - from.getTime()) / bucketMs) + 1
  if (buckets > bucketsMax) throw parameterProblem('bucket_seconds', 'is too short for this time')
  return { from, to, bucketSeconds, buckets }
}

const counts = z.array(z.int()).meta({ description: 'Counts of the buckets, first bucket first' })

const failureHistoryShape = z
  .object({
    from: z.date().meta({ description: 'The start of the first bucket' }),
    to: z.date(),
    bucket_seconds: z.int(),
    causes: z
      .array(z.object({ fingerprint: z.string(), sample: z.string(), count: z.int(), counts }))
      .meta({ description: `The ${stats.causesMax} most frequent ones, the most frequent one first` }),
    other: z.object({ count: z.int(), counts }).meta({ description: 'All other causes combined' }),
  })
  .meta({ id: 'FailureHistory', description: 'Failed activities of sagas over time, by cause' })
