/** What happened once, such as the end of a saga, and whether it counts as a hit. */
export interface Trial {
  /** Unix time in milliseconds. */
  at: number
  hit: boolean
}

/** Other moments are as likely as long as the logarithm of their likelihood is less by no more than this: the usual 95 percent. */
const likelihoodLess = 2

/**
 * The moment of a span from which hits are more frequent than before: the most likely single change of their share
 * (D. V. Hinkley, 1970). Null when no moment of the span is among those that are likely.
 *
 * @param trials by time
 */
export function onsetWithin(trials: readonly Trial[], from: number, to: number): number | null {
  const total = trials.filter(({ hit }) => hit).length
  let [best, bestWithin, onset, hits] = [-Infinity, -Infinity, null as number | null, 0]
  for (const [index, { at, hit }] of trials.entries()) {
    const later = { hits: total - hits, of: trials.length - index }
    if (hit && (index === 0 || later.hits * index > hits * later.of)) {
      const likelihood = logLikelihood(hits, index) + logLikelihood(later.hits, later.of)
      best = Math.max(best, likelihood)
      if (at >= from && at <= to && likelihood > bestWithin) [bestWithin, onset] = [likelihood, at]
    }
    if (hit) hits += 1
  }
  return bestWithin >= best - likelihoodLess ? onset : null
}

function logLikelihood(hits: number, of: number): number {
  const misses = of - hits
  return (hits && hits * Math.log(hits / of)) + (misses && misses * Math.log(misses / of))
}

/** Share of hits among the trials from one moment up to another one. */
export function shareBetween(trials: readonly Trial[], from: number, to: number) {
  const within = trials.filter(({ at }) => at >= from && at < to)
  return { hits: within.filter(({ hit }) => hit).length, of: within.length }
}
