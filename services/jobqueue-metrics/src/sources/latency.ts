/**
 * Age of the oldest job in whole seconds, truncated. No job: 0. A producer's clock that is ahead makes no
 * negative age.
 *
 * @param sinceMs times since which jobs could run; nulls are skipped
 */
export function latencySeconds(sinceMs: readonly (number | null)[], nowMs: number): number {
  const known = sinceMs.filter((since) => since !== null)
  if (known.length === 0) return 0
  return Math.max(0, Math.trunc((nowMs - Math.min(...known)) / 1000))
}
