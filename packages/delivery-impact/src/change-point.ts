import { type Share, totalOf } from './statistics.js'

/** What happened at one moment, such as the end of a saga, and how much of it counts as a hit. */
export interface Trial extends Share {
  /** Unix time in milliseconds. */
  at: number
}

/**
 * Other moments are as likely as long as the logarithm of their likelihood is less by no more than this: the
 * usual 95 percent.
 */
const likelihoodLess = 2

/**
 * The moment of a span from which hits are more frequent than before: the most likely single change of their
 * share (D. V. Hinkley, 1970). Null when no moment of the span is among those that are likely.
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

/** Share of hits among the trials from one moment up to another one. */
export const shareBetween = (trials: readonly Trial[], from: number, to: number): Share =>
  totalOf(trials.filter(({ at }) => at >= from && at < to))
