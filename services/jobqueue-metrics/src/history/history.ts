import { parameterProblem } from '@switchyard/service-kit/http'
import { Ring, SeriesNumbers } from './ring.js'
import { type Figures, mergeFigures, type Sample, seriesKey } from './sample.js'

export interface HistoryQuestion {
  source?: string
  /** Unset: the whole, all queues together. */
  queue?: string
  fromMs: number
  toMs: number
  resolutionSeconds: Resolution
}

/** Figures at one moment; nulls where nothing is known of it. */
export interface Point extends Figures {
  atMs: number
}

/** Seconds between two points: the last hour, or the last day. */
export type Resolution = 10 | 60

export interface History {
  /** Adds what the sources said just now. */
  add(sample: Sample): void
  /** Puts what was kept before this process under what it has seen itself. */
  restore(resolution: Resolution, samples: Sample[], nowMs: number): void
  /** Whether a sample of this time begins a new minute. */
  beginsMinute(atMs: number): boolean
  /** @throws DomainError invalid-parameters for a source there is none of */
  points(question: HistoryQuestion): Point[]
}

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
export const fineRows = 360
export const coarseRows = 1440
/** Queues and sources together. A day of all of them takes 150 MB. */
const seriesMax = 2000

/**
 * The last 24 hours in memory, bounded: every ten seconds for an hour, every minute for a day.
 *
 * @param sources names of all sources
 */
export function createHistory(sources: string[]): History {
  const numbers = new SeriesNumbers(seriesMax)
  // Before queues without end take all of them.
  for (const source of sources) numbers.numberOf(seriesKey(source, null))
  const fine = new Ring(numbers, fineRows, hourMs)
  const coarse = new Ring(numbers, coarseRows, dayMs)
  const beginsMinute = (atMs: number) => minuteOf(coarse.latestMs ?? 0) !== minuteOf(atMs)

  return {
    beginsMinute,
    add(sample) {
      if (beginsMinute(sample.atMs)) coarse.add(sample)
      fine.add(sample)
    },
    restore: (resolution, samples, nowMs) => (resolution === 10 ? fine : coarse).restore(samples, nowMs),
    points({ source, queue, fromMs, toMs, resolutionSeconds }) {
      if (source !== undefined && !sources.includes(source))
        throw parameterProblem('source', 'does not have a valid value')
      const ring = resolutionSeconds === 10 ? fine : coarse
      return pointsOf(ring, source === undefined ? sources : [source], queue ?? null, fromMs, toMs)
    },
  }
}

/**
 * Figures of the sources together. A source that was away makes the point unknown, unless it never had the queue: what
 * the others said would look like the whole.
 */
function pointsOf(
  ring: Ring,
  sources: string[],
  queue: string | null,
  fromMs: number,
  toMs: number,
): Point[] {
  const wholes = sources.map((name) => seriesKey(name, null))
  const asked = sources.map((name) => seriesKey(name, queue))
  const wholeSince = wholes.map((key) => ring.firstSeenMs(key))
  const askedSince = asked.map((key) => ring.firstSeenMs(key))
  return [...ring.between([...wholes, ...asked], fromMs, toMs)].map(({ atMs, figures }) => {
    const isAway = (index: number) =>
      figures[index] === null && atMs > (wholeSince[index] as number) && Number.isFinite(askedSince[index])
    const known = figures.slice(sources.length).filter((each) => each !== null)
    return { atMs, ...mergeFigures(sources.some((_name, index) => isAway(index)) ? [] : known) }
  })
}

const minuteOf = (ms: number) => Math.floor(ms / 60_000)
