import { numberOf, objectOf } from '../values.js'

/** BullMQ scores delayed jobs by due time (ms) times this, plus a counter below it. */
const delayedScoreFactor = 4096

/** Returns the highest score of a delayed job that is due now. */
export const overdueScoreMax = (nowMs: number): number => (nowMs + 1) * delayedScoreFactor - 1

/** Returns when a delayed job is due, in ms. */
export const dueMs = (score: number): number => Math.floor(score / delayedScoreFactor)

/** The times in a job's hash; null for a missing field, and when the hash no longer exists. */
interface JobTimes {
  /** Creation in ms; kept when the job is promoted or retried. */
  timestamp: string | null
  /** Start of the last attempt in ms. */
  processedOn: string | null
  /** JSON; `delay` (ms) stays in it when the job is promoted. */
  opts: string | null
}

/**
 * Returns since when a waiting job has been runnable, in ms: its creation, the end of its delay, or its last
 * attempt, whichever was last. Null when its hash no longer exists, as happens when Redis evicts keys.
 */
export function runnableSinceMs(times: JobTimes): number | null {
  const created = numberOf(times.timestamp)
  if (created === null) return null
  // Few of possibly thousands of jobs have a delay, and the options of other jobs need no parsing.
  const delayMs = times.opts?.includes('"delay"') ? (numberOf(objectOf(times.opts)?.delay) ?? 0) : 0
  return Math.max(created + delayMs, numberOf(times.processedOn) ?? 0)
}
