/**
 * Where the clock of the server stands from that of the browser, in milliseconds: somewhere between the two.
 */
interface Bounds {
  low: number
  high: number
}

const unknown: Bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
const dateStepMs = 1000

/**
 * Learns from an answer with `Date`, which the server wrote between the two times of the browser and cut to a
 * whole second. What several answers say is put together; an answer that does not fit them begins anew,
 * because a clock was set meanwhile.
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

/** The least correction that fits: none for a clock that may be right. */
export const correctionOf = ({ low, high }: Bounds): number => Math.min(high, Math.max(low, 0))

let bounds = unknown

/** Takes the header of an answer that came from the server itself, not from a cache. */
export function noteServerTime(date: string | null, times: { sentMs: number; receivedMs: number }): void {
  const dateMs = Date.parse(date ?? '')
  if (!Number.isNaN(dateMs)) bounds = narrowed(bounds, dateMs, times)
}

/**
 * The time by the clock of the server. That of the browser may be hours off, and the server decides what is
 * due.
 */
export const serverNow = (): number => Date.now() + correctionOf(bounds)
