import type { FailureHistory, JobHistory } from '../../../generated/types.gen'
import { firstLine } from '../../../lib/format'

/** The hours that the time line can show. */
export const hourChoices = [
  ['1', 'Last hour'],
  ['6', '6 hours'],
  ['24', '24 hours'],
] as const

export type Hours = (typeof hourChoices)[number][0]

export const hoursNames = hourChoices.map(([hours]) => hours)

/** Length of the buckets of failures and latency, in seconds. */
export const bucketSeconds: Record<Hours, number> = { 1: 60, 6: 300, 24: 900 }
/** Minutes between two marks of the axis. */
const tickMinutes: Record<Hours, number> = { 1: 10, 6: 60, 24: 180 }

/** The visible time in milliseconds: whole buckets, the last of which is still open. */
export interface Span {
  hours: Hours
  from: number
  to: number
  bucketMs: number
  /** Number of buckets. */
  buckets: number
}

export function spanOf(hours: Hours, now: number): Span {
  const bucketMs = bucketSeconds[hours] * 1000
  const to = (Math.floor(now / bucketMs) + 1) * bucketMs
  const from = to - Number(hours) * 3_600_000
  return { hours, from, to, bucketMs, buckets: (to - from) / bucketMs }
}

/** Returns the place of a time, in per cent from the left. */
export const placeIn = ({ from, to }: Span, time: number): number =>
  Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100))

/** Returns marks of the axis at whole hours or minutes in the browser's time zone. */
export function ticksOf({ hours, from, to }: Span): number[] {
  const stepMs = tickMinutes[hours] * 60_000
  const zoneMs = new Date(from).getTimezoneOffset() * 60_000
  const first = Math.ceil((from - zoneMs) / stepMs) * stepMs + zoneMs
  return Array.from({ length: Math.ceil((to - first) / stepMs) }, (_, tick) => first + tick * stepMs)
}

/**
 * Returns a row for each item, so that none covers another: the first row from the top with room for it, or
 * the last row when no row has room.
 *
 * @param items ordered by their left ends
 */
export function rowsOf(items: readonly { left: number; right: number }[], rowsMax: number): number[] {
  const ends: number[] = []
  return items.map(({ left, right }) => {
    const free = ends.findIndex((end) => end <= left)
    const row = free === -1 ? Math.min(ends.length, rowsMax - 1) : free
    ends[row] = right
    return row
  })
}

/**
 * Returns the space of a band with its text, which may be longer than the band: the text begins in the band
 * and continues to its right, or is left of it where the right side has less space. All values are per cent
 * of the width.
 */
export function roomOf({ left, right }: { left: number; right: number }, text: number) {
  return left + text <= 100 || left <= 50
    ? { left, right: Math.max(right, Math.min(100, left + text)), isBefore: false }
    : { left: Math.max(0, left - text), right, isBefore: true }
}

/** Failures of one cause in each bucket of the span. */
export interface Cause {
  /** Null: all causes that are not counted separately. */
  fingerprint: string | null
  name: string
  count: number
  counts: number[]
}

/** Most characters of a name, because errors may be whole stack traces. */
const nameCharsMax = 120

/** Returns the causes with failures in the span, the most frequent one first. */
export function causesOf(span: Span, { from, causes, other }: FailureHistory): Cause[] {
  const shift = Math.round((Date.parse(from) - span.from) / span.bucketMs)
  const within = (counts: number[]) =>
    Array.from({ length: span.buckets }, (_, bucket) => counts[bucket - shift] ?? 0)
  const all = [
    ...causes.map(({ fingerprint, sample, counts }) => ({
      fingerprint,
      name: firstLine(sample, nameCharsMax),
      counts,
    })),
    { fingerprint: null, name: 'Other causes', counts: other.counts },
  ].map((cause) => ({ ...cause, counts: within(cause.counts) }))
  return all
    .map((cause) => ({ ...cause, count: cause.counts.reduce((sum, count) => sum + count, 0) }))
    .filter(({ count }) => count > 0)
}

/** An area on top of those below it. */
interface Area {
  cause: Cause
  /**
   * SVG path in an image whose width is the number of buckets and whose height is the `height` of all areas.
   */
  path: string
  /** The bucket with the most failures, and the vertical middle of the area in it, from the bottom. */
  peak: { bucket: number; middle: number; count: number }
}

export function stack(causes: readonly Cause[]): { areas: Area[]; height: number } {
  const heights: number[] = []
  const placed = causes.map((cause) => {
    const lower = cause.counts.map((_, bucket) => heights[bucket] ?? 0)
    for (const [bucket, count] of cause.counts.entries()) heights[bucket] = (heights[bucket] ?? 0) + count
    return { cause, lower }
  })
  const height = Math.max(1, ...heights)
  const areas = placed.map(({ cause, lower }) => {
    const count = Math.max(...cause.counts)
    const bucket = cause.counts.indexOf(count)
    const path = runsOf(cause.counts, (value) => value > 0).map((run) => areaOf(run, cause, lower, height))
    return { cause, path: path.join(''), peak: { bucket, middle: (lower[bucket] ?? 0) + count / 2, count } }
  })
  return { areas, height }
}

/** Returns the steps of one run from left to right, and back along the lower edge. */
function areaOf([first, last]: Run, { counts }: Cause, lower: number[], height: number): string {
  const bottom = (bucket: number) => height - (lower[bucket] ?? 0)
  const buckets = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const there = buckets.map((bucket) => `V${bottom(bucket) - (counts[bucket] ?? 0)}H${bucket + 1}`)
  const back = buckets.toReversed().map((bucket) => `V${bottom(bucket)}H${bucket}`)
  return `M${first} ${bottom(first)}${there.join('')}${back.join('')}Z`
}

type Run = [first: number, last: number]

/** Returns the first and last index of each run of matching values. */
function runsOf<Value>(values: readonly Value[], fits: (value: Value) => boolean): Run[] {
  const runs: Run[] = []
  for (const [index, value] of values.entries()) {
    if (!fits(value)) continue
    const run = runs.at(-1)
    if (run?.[1] === index - 1) run[1] = index
    else runs.push([index, index])
  }
  return runs
}

/** Returns the longest latency in each bucket, in seconds; null without data. */
export function latenciesOf(span: Span, points: JobHistory['points']): (number | null)[] {
  const longest = Array.from({ length: span.buckets }, (): number | null => null)
  for (const { at, latency } of points) {
    const bucket = Math.floor((Date.parse(at) - span.from) / span.bucketMs)
    if (latency !== null && bucket in longest) longest[bucket] = Math.max(longest[bucket] ?? 0, latency)
  }
  return longest
}

/** Returns a stepped line, with a gap without data. */
export const lineOf = (values: readonly (number | null)[], height: number): string =>
  runsOf(values, (value) => value !== null)
    .map(([first, last]) => {
      const steps = values.slice(first, last + 1).map((value, index) => {
        const level = height - (value ?? 0)
        return `${index === 0 ? `M${first} ${level}` : `V${level}`}H${first + index + 1}`
      })
      return steps.join('')
    })
    .join('')

/** A link in the picture. */
export interface Mark {
  key: string
  /** Number of the lane, from the top. */
  lane: number
  at: number
}

/**
 * Returns the mark to which a key leads: along the lane, or to the nearest one in time in the next lane;
 * undefined for another key.
 */
export function markAfter(marks: readonly Mark[], current: Mark, pressed: string): Mark | undefined {
  const own = marks.filter(({ lane }) => lane === current.lane).sort((a, b) => a.at - b.at)
  const index = own.findIndex(({ key }) => key === current.key)
  switch (pressed) {
    case 'ArrowRight':
      return own[Math.min(own.length - 1, index + 1)]
    case 'ArrowLeft':
      return own[Math.max(0, index - 1)]
    case 'Home':
      return own[0]
    case 'End':
      return own.at(-1)
    case 'ArrowDown':
      return nearest(marks, current, Math.min(...lanesOf(marks).filter((lane) => lane > current.lane)))
    case 'ArrowUp':
      return nearest(marks, current, Math.max(...lanesOf(marks).filter((lane) => lane < current.lane)))
    default:
      return undefined
  }
}

const lanesOf = (marks: readonly Mark[]) => marks.map(({ lane }) => lane)

/** Returns the nearest mark in a lane; the current mark when there is no such lane. */
const nearest = (marks: readonly Mark[], current: Mark, lane: number): Mark =>
  marks
    .filter((mark) => mark.lane === lane)
    .sort((a, b) => Math.abs(a.at - current.at) - Math.abs(b.at - current.at))[0] ?? current
