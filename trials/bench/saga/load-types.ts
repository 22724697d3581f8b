import { median, quantile } from '../../support/statistics.js'

/** The task of a load process. */
export interface LoadOrder {
  port: number
  /** Number of parallel calls. */
  callers: number
  /** Events of one call; unset: single calls. */
  batchEvents?: number
  seconds: number
  /** Warm-up seconds, which do not count. */
  warmUpSeconds: number
  /** Seven digits that are unique to the run. */
  runDigits: string
  /** Single calls a second in total; unset: as many as possible. */
  rate?: number
  /** Whether the server echoes the bytes that it receives. */
  isEcho?: boolean
}

export interface LoadResult {
  /** Events a second in the measured time. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** All events until the end of every started saga. */
  acknowledged: number
  /** CPU time of the load generator per acknowledged event. */
  loadMicroseconds: number
}

/**
 * @param latenciesMs of the calls in the measured time
 * @param acknowledged number of all events
 * @param cpu CPU time of the process from the first call to the last
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
