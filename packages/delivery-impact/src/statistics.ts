import { errorFunction, gammaln, median, sampleVariance } from 'simple-statistics'

/** A number of hits among a number of trials. */
export interface Share {
  hits: number
  of: number
}

const logChoose = (of: number, hits: number): number =>
  gammaln(of + 1) - gammaln(hits + 1) - gammaln(of - hits + 1)

/**
 * Returns the probability that chance alone puts at least as many of all hits into the later share. It is
 * Fisher's exact test, one-sided (R. A. Fisher, 1935), which is exact for small numbers, too.
 */
export function pValueOfShare(earlier: Share, later: Share): number {
  const hits = earlier.hits + later.hits
  const of = earlier.of + later.of
  const most = Math.min(hits, later.of)
  let pValue = 0
  for (let here = later.hits; here <= most; here += 1)
    if (hits - here <= earlier.of)
      pValue += Math.exp(logChoose(later.of, here) + logChoose(earlier.of, hits - here) - logChoose(of, hits))
  return Math.min(pValue, 1)
}

export const totalOf = (shares: readonly Share[]): Share => ({
  hits: shares.reduce((sum, { hits }) => sum + hits, 0),
  of: shares.reduce((sum, { of }) => sum + of, 0),
})

/** Number of 24 hours that do not count: those with the most hits, such as those of an outage. */
const hoursLeftOut = 2

/** Returns the number of usual hours among some hours. */
export const usualOf = (hours: number): number => Math.ceil(hours * (1 - hoursLeftOut / 24))

export const usualHours = (hours: readonly Share[]): Share[] =>
  hours
    .filter(({ of }) => of > 0)
    .sort((a, b) => a.hits / a.of - b.hits / b.of)
    .slice(0, usualOf(hours.length))

/**
 * Returns how many times more a share varies from hour to hour than by chance alone, at least 1: Pearson's
 * chi-square by its degrees of freedom (P. McCullagh and J. Nelder, Generalized Linear Models, 1989). That
 * many trials count as one.
 */
export function dispersionOf(hours: readonly Share[]): number {
  const known = usualHours(hours)
  const { hits, of: all } = totalOf(known)
  const rate = hits / all
  if (known.length < 2 || hits === 0 || rate === 1) return 1
  const square = known.reduce(
    (sum, hour) => sum + (hour.hits - rate * hour.of) ** 2 / (rate * (1 - rate) * hour.of),
    0,
  )
  return Math.max(1, square / (known.length - 1))
}

/**
 * Returns the probability that chance alone makes the later values as much larger as they are. It is the rank
 * test of E. Brunner and U. Munzel (2000), one-sided, by its normal limit: outliers count by rank, and both
 * samples may differ in spread. 1 for fewer than ten values of either sample.
 */
export function pValueOfValues(earlier: readonly number[], later: readonly number[]): number {
  const [n, m] = [earlier.length, later.length]
  if (Math.min(n, m) < valuesMin) return 1
  const all = ranksOf([...earlier, ...later])
  const placementsOf = (ranks: number[], own: number[]) =>
    ranks.map((rank, index) => rank - (own[index] ?? 0))
  const [ranksEarlier, ranksLater] = [all.slice(0, n), all.slice(n)]
  const varianceEarlier = sampleVariance(placementsOf(ranksEarlier, ranksOf(earlier)))
  const varianceLater = sampleVariance(placementsOf(ranksLater, ranksOf(later)))
  const distance = meanOf(ranksLater) - meanOf(ranksEarlier)
  const spread = Math.sqrt(n * varianceEarlier + m * varianceLater)
  if (spread === 0) return distance > 0 ? 0 : 1
  return (1 - errorFunction((n * m * distance) / ((n + m) * spread * Math.SQRT2))) / 2
}

const valuesMin = 10

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the rank of each value from 1; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const ranks = new Array<number>(values.length)
  for (let first = 0, last = 0; first < order.length; first = last) {
    const value = values[order[first] ?? 0]
    while (last < order.length && values[order[last] ?? 0] === value) last += 1
    for (const index of order.slice(first, last)) ranks[index] = (first + last + 1) / 2
  }
  return ranks
}

export const medianOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : median([...values])
