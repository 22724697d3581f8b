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
      const keys = (source === undefined ? sources : [source]).map((name) => seriesKey(name, queue ?? null))
      const ring = resolutionSeconds === 10 ? fine : coarse
      return [...ring.between(keys, fromMs, toMs)].map(({ atMs, figures }) => ({
        atMs,
        ...mergeFigures(figures),
      }))
    },
  }
}

const minuteOf = (ms: number) => Math.floor(ms / 60_000)
