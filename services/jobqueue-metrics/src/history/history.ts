import { type HistorySample, type SeriesMetrics, seriesKey } from '@switchyard/contracts/jobs'
import { type Clock, dayMs, hourMs } from '@switchyard/domain'
import { parameterProblem } from '@switchyard/service-kit/http'
import { Ring, SeriesNumbers } from './ring.js'
import { mergeMetrics } from './sample.js'

interface PointsQuestion {
  /** Unset: all sources together. */
  source?: string
  /** Unset: all queues together. */
  queue?: string
  fromMs: number
  toMs: number
  resolutionSeconds: Resolution
}

/** The metrics at one moment; a null metric is unknown. */
export interface Point extends SeriesMetrics {
  atMs: number
}

/** Seconds between two points: 10 for the last hour, 60 for the last day. */
export type Resolution = 10 | 60

export interface History {
  /** @returns the part of the sample that the history stores */
  add(sample: HistorySample): HistorySample
  /** Inserts stored samples before those that this process has taken itself. */
  restore(resolution: Resolution, samples: AsyncIterable<HistorySample>, nowMs: number): Promise<void>
  /** Returns whether a sample of this time begins a new minute. */
  beginsMinute(atMs: number): boolean
  points(question: PointsQuestion): Point[]
}

export const fineRows = 360
export const coarseRows = 1440
/** Most queues and sources together. A day of all of them takes 150 MB. */
const seriesMax = 2000

/**
 * Creates a bounded history of the last 24 hours in memory: every ten seconds for an hour, every minute for a
 * day.
 *
 * @param sources names of all sources
 */
export function createHistory(sources: readonly string[]): History {
  const numbers = new SeriesNumbers(seriesMax)
  // Sources get their numbers first, because queues may use up the rest.
  const ofSources = new Set(sources.map((source) => numbers.numberOf(seriesKey(source, null))))
  const fine = new Ring(numbers, fineRows, hourMs)
  const coarse = new Ring(numbers, coarseRows, dayMs)
  const ringOf = (resolution: Resolution) => (resolution === 10 ? fine : coarse)
  const beginsMinute = (atMs: number) => minuteOf(coarse.latestMs ?? 0) !== minuteOf(atMs)

  return {
    beginsMinute,
    add(sample) {
      if (beginsMinute(sample.atMs) && numbers.lacksOneFor(sample))
        numbers.release((number) => ofSources.has(number) || coarse.has(number) || fine.has(number))
      const kept = numbers.known(sample)
      if (beginsMinute(kept.atMs)) coarse.add(kept)
      fine.add(kept)
      return kept
    },
    restore: (resolution, samples, nowMs) => ringOf(resolution).restore(samples, nowMs),
    points({ source, queue = null, fromMs, toMs, resolutionSeconds }) {
      const asked = source === undefined ? sources : [source]
      return pointsOf(ringOf(resolutionSeconds), asked, queue, fromMs, toMs)
    },
  }
}

/**
 * Returns the metrics of the sources together. When a source did not answer, the point is unknown, because
 * the metrics of the other sources alone would look complete. A source that never had the queue is left out.
 */
function pointsOf(
  ring: Ring,
  sources: readonly string[],
  queue: string | null,
  fromMs: number,
  toMs: number,
): Point[] {
  const wholes = sources.map((name) => seriesKey(name, null))
  const asked = sources.map((name) => seriesKey(name, queue))
  const wholeSince = wholes.map((key) => ring.firstSeenMs(key))
  const askedSince = asked.map((key) => ring.firstSeenMs(key))
  return [...ring.between([...wholes, ...asked], fromMs, toMs)].map(({ atMs, metrics }) => {
    const isMissing = (index: number) =>
      metrics[index] === null && atMs > (wholeSince[index] as number) && Number.isFinite(askedSince[index])
    const known = metrics.slice(sources.length).filter((each) => each !== null)
    return { atMs, ...mergeMetrics(sources.some((_name, index) => isMissing(index)) ? [] : known) }
  })
}

const minuteOf = (ms: number) => Math.floor(ms / 60_000)

interface HistoryQuestion {
  /** Unset: all sources together. */
  source?: string
  /** Unset: all queues together. */
  queue?: string
  /** Unset: the longest time that the resolution covers. */
  from?: Date
  /** Unset: now. */
  to?: Date
  /** Seconds between two points. Unset: the finest resolution that covers `from`. */
  resolution?: '10' | '60'
}

/** @throws DomainError invalid-parameters for a source that does not exist */
export type ReadHistory = (question: HistoryQuestion) => { resolutionSeconds: Resolution; points: Point[] }

export const createReadHistory =
  (history: History, sources: readonly string[], clock: Clock): ReadHistory =>
  ({ source, queue, from, to, resolution }) => {
    if (source !== undefined && !sources.includes(source))
      throw parameterProblem('source', 'does not have a valid value')
    const nowMs = clock().getTime()
    const reachesHour = from !== undefined && from.getTime() >= nowMs - hourMs
    const resolutionSeconds = resolution === '10' || (resolution === undefined && reachesHour) ? 10 : 60
    const fromMs = from?.getTime() ?? nowMs - (resolutionSeconds === 10 ? hourMs : dayMs)
    const toMs = to?.getTime() ?? nowMs
    return { resolutionSeconds, points: history.points({ source, queue, fromMs, toMs, resolutionSeconds }) }
  }
