import type { FailureGroup, SagaDurations, SagaKindCount, StatsRange } from '@switchyard/db'
import { z } from 'zod'

const count = z.int()
const kind = { service_name: z.string().nullable(), outcome: z.string().nullable(), count }

export const statsShape = z
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
  .meta({ id: 'SagaStats', description: 'Figures of the sagas that were created in a time' })

export interface SagaStats {
  counts: SagaKindCount[]
  durations: SagaDurations[]
  failures: FailureGroup[]
}

/** Figures of the sagas that were created in a time. */
export const presentStats = (
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
