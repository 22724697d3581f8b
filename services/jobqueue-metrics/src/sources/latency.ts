/**
 * Returns the age of the oldest job in whole seconds, truncated. Without jobs: 0. A producer's clock that is
 * ahead does not make the age negative.
 *
 * @param sinceMs times since which jobs have been runnable; nulls are skipped
 */
export function latencySeconds(sinceMs: readonly (number | null)[], nowMs: number): number {
  const known = sinceMs.filter((since) => since !== null)
  if (known.length === 0) return 0
  return Math.max(0, Math.trunc((nowMs - Math.min(...known)) / 1000))
}
