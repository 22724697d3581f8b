import { numberOf, objectOf } from '../values.js'

/**
 * Sidekiq writes times as seconds with a fraction up to version 7, and as whole milliseconds from 8 on. A float
 * that happens to be whole looks like an integer here, so the size decides: seconds reach this in the year 5138.
 */
const millisecondsFrom = 1e11

/**
 * When a job was put into its queue, epoch ms. Null when the job has no such time or cannot be parsed: its age is
 * unknown then, which is no error.
 *
 * @param text the job as its list holds it
 */
export function enqueuedAtMs(text: string | null): number | null {
  const job = objectOf(text)
  if (job === null) return null
  const enqueuedAt = numberOf(job.enqueued_at)
  if (enqueuedAt !== null) return enqueuedAt > millisecondsFrom ? enqueuedAt : enqueuedAt * 1000
  // Only Sidekiq 8 uses the time of creation instead.
  const createdAt = numberOf(job.created_at)
  return createdAt !== null && createdAt > millisecondsFrom ? createdAt : null
}
