import { type Share, totalOf } from './statistics.js'

/** An event at one moment, such as the end of a saga, and how much of it counts as a hit. */
export interface Trial extends Share {
  /** Unix time in milliseconds. */
  at: number
}

/**
 * Largest difference of the logarithm of the likelihood between the most likely moment and another likely
 * one. It gives the usual confidence of 95 percent.
 */
const likelihoodLess = 2

/**
 * Finds the moment of a span from which hits are more frequent than before: the most likely single change of
 * their share (D. V. Hinkley, 1970). Null when no likely moment is in the span.
 *
 * @param trials by time
 */
export function changePointWithin(trials: readonly Trial[], from: number, to: number): number | null {
  const all = totalOf(trials)
  let [best, bestWithin, changePoint] = [-Infinity, -Infinity, null as number | null]
  const earlier = { hits: 0, of: 0 }
  for (const { at, hits, of } of trials) {
    const later = { hits: all.hits - earlier.hits, of: all.of - earlier.of }
    if (hits > 0 && (earlier.of === 0 || later.hits * earlier.of > earlier.hits * later.of)) {
      const likelihood = logLikelihood(earlier) + logLikelihood(later)
      best = Math.max(best, likelihood)
      if (at >= from && at <= to && likelihood > bestWithin) [bestWithin, changePoint] = [likelihood, at]
    }
    earlier.hits += hits
    earlier.of += of
  }
  return bestWithin >= best - likelihoodLess ? changePoint : null
}

function logLikelihood({ hits, of }: Share): number {
  const misses = of - hits
  return (hits && hits * Math.log(hits / of)) + (misses && misses * Math.log(misses / of))
}

/** Returns the share of hits among the trials from one moment up to another. */
export const shareBetween = (trials: readonly Trial[], from: number, to: number): Share =>
  totalOf(trials.filter(({ at }) => at >= from && at < to))
