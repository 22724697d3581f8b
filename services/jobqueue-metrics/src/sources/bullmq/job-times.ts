import { numberOf, objectOf } from '../values.js'

/** BullMQ scores delayed jobs by due time (ms) times this, plus a counter below it. */
const delayedScoreFactor = 4096

/** The highest score of a delayed job that is due by now. */
export const overdueScoreMax = (nowMs: number): number => (nowMs + 1) * delayedScoreFactor - 1

/** When a delayed job is due, ms. */
export const dueMs = (score: number): number => Math.floor(score / delayedScoreFactor)

/**
 * What a job's hash says about its times; null where it has no such field, or where there is no hash any
 * more.
 */
interface JobTimes {
  /** Creation, ms; kept when the job is promoted or tried again. */
  timestamp: string | null
  /** Start of the last attempt, ms. */
  processedOn: string | null
  /** JSON; `delay` (ms) in it outlives the promotion of the job. */
  opts: string | null
}

/**
 * Since when a waiting job could run, ms: its creation, or the end of its delay, or its last attempt,
 * whichever was last. Null when its hash is gone, as happens when Redis evicts keys.
 */
export function runnableSinceMs(times: JobTimes): number | null {
  const created = numberOf(times.timestamp)
  if (created === null) return null
  // Few of possibly thousands of jobs have a delay; the options of other jobs need no parsing.
  const delayMs = times.opts?.includes('"delay"') ? (numberOf(objectOf(times.opts)?.delay) ?? 0) : 0
  return Math.max(created + delayMs, numberOf(times.processedOn) ?? 0)
}
