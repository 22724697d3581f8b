/** Lower and upper bound of the lead of the server's clock over the browser's, in milliseconds. */
interface Bounds {
  low: number
  high: number
}

const unknown: Bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
const dateStepMs = 1000

/**
 * Narrows the bounds by an answer with `Date`, which the server wrote between the two times of the browser
 * and truncated to a second. An answer that contradicts earlier ones resets the bounds, because a clock was
 * changed meanwhile.
 */
export function narrowed(
  { low, high }: Bounds,
  dateMs: number,
  { sentMs, receivedMs }: { sentMs: number; receivedMs: number },
): Bounds {
  const given = { low: dateMs - receivedMs, high: dateMs + dateStepMs - sentMs }
  const both = { low: Math.max(low, given.low), high: Math.min(high, given.high) }
  return both.low <= both.high ? both : given
}

/** Returns the smallest possible correction: none for a clock that may be right. */
export const correctionOf = ({ low, high }: Bounds): number => Math.min(high, Math.max(low, 0))

let bounds = unknown

/** Uses the header of an answer that came from the server itself, not from a cache. */
export function noteServerTime(date: string | null, times: { sentMs: number; receivedMs: number }): void {
  const dateMs = Date.parse(date ?? '')
  if (!Number.isNaN(dateMs)) bounds = narrowed(bounds, dateMs, times)
}

/**
 * Returns the server's current time. The browser's clock may be hours off, and the server decides which times
 * are due.
 */
export const serverNow = (): number => Date.now() + correctionOf(bounds)
