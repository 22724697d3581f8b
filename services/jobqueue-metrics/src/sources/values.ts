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

/** A number that Redis holds as text; null for anything else. */
export function numberOf(text: unknown): number | null {
  if (typeof text !== 'string' && typeof text !== 'number') return null
  if (text === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

/** What a JSON text says, when it is an object; null for anything else. */
export function objectOf(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
