/** Returns a number that Redis stores as text; null for anything else. */
export function numberOf(text: unknown): number | null {
  if (typeof text !== 'string' && typeof text !== 'number') return null
  if (text === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

/** Returns the object of a JSON text; null for anything else. */
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
