import { median } from '../support/statistics.js'
import type { Figure, Sample } from './samples.js'

/** Growth per hour that counts as flat: an absolute value, or a share of the median, whichever is larger. */
const tolerances: Record<Figure, { absolute: number; share: number }> = {
  'RSS, MB': { absolute: 30, share: 0.2 },
  'heap, MB': { absolute: 15, share: 0.2 },
  'open files': { absolute: 10, share: 0.2 },
  'event-loop delay p99, ms': { absolute: 10, share: 0.2 },
  'connections to PostgreSQL': { absolute: 2, share: 0.2 },
}

/** The first part of a run, in which caches fill and code is compiled. */
const warmUpShare = 0.25

export interface Verdict {
  subject: string
  figure: Figure
  median: number
  perHour: number
  isFlat: boolean
}

/** Returns the growth of every figure of every subject after the first quarter of the run. */
export function judge(samples: readonly Sample[]): Verdict[] {
  const fromSeconds = Math.max(...samples.map(({ seconds }) => seconds)) * warmUpShare
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    if (sample.seconds < fromSeconds) continue
    const key = `${sample.subject} ${sample.figure}`
    groups.set(key, [...(groups.get(key) ?? []), sample])
  }
  return [...groups.values()].map((all) => {
    const { subject, figure } = all[0] as Sample
    const group = figure === 'heap, MB' ? leastOfTen(all) : all
    const middle = median(group.map(({ value }) => value))
    const perHour = slopePerSecond(group) * 3600
    const { absolute, share } = tolerances[figure]
    return { subject, figure, median: middle, perHour, isFlat: perHour <= Math.max(absolute, share * middle) }
  })
}

/**
 * Returns the minimum of each ten consecutive samples, because at other times the heap also contains garbage.
 */
function leastOfTen(group: readonly Sample[]): Sample[] {
  const starts = group.flatMap((_, index) => (index % 10 === 0 ? [index] : []))
  return starts.map((start) =>
    group.slice(start, start + 10).reduce((least, sample) => (sample.value < least.value ? sample : least)),
  )
}

/**
 * Returns the median of the slopes between all pairs of samples (Theil and Sen), on which single peaks have
 * no effect; 0 for a single sample.
 */
function slopePerSecond(group: readonly Sample[]): number {
  const slopes = group.flatMap((one, index) =>
    group.slice(index + 1).map((later) => (later.value - one.value) / (later.seconds - one.seconds)),
  )
  return slopes.length === 0 ? 0 : median(slopes)
}
