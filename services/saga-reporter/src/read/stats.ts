import type { Clock } from '@switchyard/domain'
import {
  countSagasByKind,
  type FailureGroup,
  groupFailures,
  measureSagaDurations,
  type Readable,
  type SagaDurations,
  type SagaKindCount,
  type StatsRange,
} from '@switchyard/saga-store'
import { endpoint, ok, parameterProblem, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { tenantParameter } from '../shapes/parameters.js'

const dayMs = 24 * 60 * 60 * 1000

/** `GET /sagas/stats`: metrics of the sagas created in a range of time, by default the last 24 hours. */
export const sagaStats = (database: Readable, clock: Clock) =>
  endpoint({
    summary: 'Metrics of the sagas that were created in a time',
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
      return ok(presentStats(range, await measureSagas(database, range)))
    },
  })

interface SagaStats {
  counts: SagaKindCount[]
  durations: SagaDurations[]
  failures: FailureGroup[]
}

/** Groups of failures that are shown. */
const failureGroupsMax = 50

/** Counts, durations and failures of the sagas that were created in a range of time. */
async function measureSagas(database: Readable, range: StatsRange): Promise<SagaStats> {
  const [counts, durations, failures] = await Promise.all([
    countSagasByKind(database, range),
    measureSagaDurations(database, range),
    groupFailures(database, range, failureGroupsMax),
  ])
  return { counts, durations, failures }
}

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

/** Metrics of the sagas that were created in a time. */
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

/** The sums of the counts by a key. Counts without the key are left out. */
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
