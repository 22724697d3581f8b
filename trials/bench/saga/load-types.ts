import { median, quantile } from '../../support/statistics.js'

/** What a load process is asked to do. */
export interface LoadOrder {
  port: number
  /** Calls under way. */
  callers: number
  /** Events of one call; unset: single calls. */
  batchEvents?: number
  seconds: number
  /** Seconds before that, which do not count. */
  warmUpSeconds: number
  /** Seven digits that no other run has. */
  runDigits: string
  /** Single calls a second in all; as many as possible when left out. */
  rate?: number
  /** The server gives back the bytes it gets. */
  isEcho?: boolean
}

export interface LoadResult {
  /** Events in the time that counts. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Events in all, until every saga that was begun has come to its end. */
  acknowledged: number
  /** CPU time of the load itself, per acknowledged event. */
  loadMicroseconds: number
}

/**
 * @param latenciesMs of the calls in the time that counts
 * @param acknowledged events in all
 * @param cpu what the process used from the first call to the last
 */
export function resultOf(
  { seconds, batchEvents = 1 }: LoadOrder,
  latenciesMs: readonly number[],
  acknowledged: number,
  { user, system }: NodeJS.CpuUsage,
): LoadResult {
  return {
    perSecond: (latenciesMs.length * batchEvents) / seconds,
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    acknowledged,
    loadMicroseconds: (user + system) / acknowledged,
  }
}
