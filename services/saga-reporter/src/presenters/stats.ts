import type { FailureGroup, SagaDurations, SagaKindCount, StatsRange } from '@switchyard/db'

export interface SagaStats {
  counts: SagaKindCount[]
  durations: SagaDurations[]
  failures: FailureGroup[]
}

/** Figures of the sagas that were created in a time. */
export const presentStats = ({ from, to }: StatsRange, { counts, durations, failures }: SagaStats) => ({
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

/** Sagas without such a value are not among them. */
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
