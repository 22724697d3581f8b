/** BullMQ scores delayed jobs by due time (ms) times this, plus a counter below it. */
const delayedScoreFactor = 4096

/** The highest score of a delayed job that is due by now. */
export const overdueScoreMax = (nowMs: number): number => (nowMs + 1) * delayedScoreFactor - 1

/** When a delayed job is due, ms. */
export const dueMs = (score: number): number => Math.floor(score / delayedScoreFactor)

/** What a job's hash says about its times; null where it has no such field, or where there is no hash any more. */
export interface JobTimes {
  /** Creation, ms; kept when the job is promoted or tried again. */
  timestamp: string | null
  /** Begin of the last attempt, ms. */
  processedOn: string | null
  /** JSON; `delay` (ms) in it outlives the promotion of the job. */
  opts: string | null
}

/**
 * Since when a waiting job could run, ms: its creation, or the end of its delay, or its last attempt,
 * whichever was last. Null when its hash is gone, as happens when Redis evicts keys.
 */
export function runnableSinceMs({ timestamp, processedOn, opts }: JobTimes): number | null {
  const created = numberOf(timestamp)
  if (created === null) return null
  return Math.max(created + delayOf(opts), numberOf(processedOn) ?? 0)
}

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

function delayOf(opts: string | null): number {
  if (opts === null) return 0
  try {
    const parsed: unknown = JSON.parse(opts)
    const delay =
      typeof parsed === 'object' && parsed !== null && 'delay' in parsed ? Number(parsed.delay) : 0
    return Number.isFinite(delay) ? delay : 0
  } catch {
    return 0
  }
}

function numberOf(text: string | null): number | null {
  if (text === null || text === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}
