/** Most lead times that are stored for a deployment. */
const leadTimesMax = 20

/** The largest integer of PostgreSQL, about 68 years. */
const secondsMax = 2_147_483_647

/**
 * Returns the seconds from each author time to the end of a deployment, ascending. Of more than 20, it
 * returns 20 that are evenly spaced by rank, so that each stands for the same number of commits. An author
 * time in the future has a lead time of 0.
 *
 * @param authorTimes Unix seconds
 */
export function leadTimesOf(authorTimes: readonly number[], finishedAt: Date): number[] {
  const finished = Math.floor(finishedAt.getTime() / 1000)
  const seconds = authorTimes
    .map((authored) => Math.min(Math.max(0, finished - authored), secondsMax))
    .sort((a, b) => a - b)
  if (seconds.length <= leadTimesMax) return seconds
  return Array.from(
    { length: leadTimesMax },
    (_, index) => seconds[Math.floor(((index + 0.5) * seconds.length) / leadTimesMax)] as number,
  )
}
