import type { FailureHistory, JobHistory } from '../../../generated/types.gen'
import { firstLine } from '../../../lib/format'

/** How many hours the time line shows. */
export const hourChoices = [
  ['1', 'Last hour'],
  ['6', '6 hours'],
  ['24', '24 hours'],
] as const

export type Hours = (typeof hourChoices)[number][0]

export const hoursNames = hourChoices.map(([hours]) => hours)

/** Failures and latency are shown by parts of the time of so many seconds. */
export const bucketSeconds: Record<Hours, number> = { 1: 60, 6: 300, 24: 900 }
/** Minutes between two marks of the axis. */
const tickMinutes: Record<Hours, number> = { 1: 10, 6: 60, 24: 180 }

/** The time that is shown, in milliseconds: whole buckets, of which the last one goes on. */
export interface Span {
  hours: Hours
  from: number
  to: number
  bucketMs: number
  /** How many buckets. */
  buckets: number
}

export function spanOf(hours: Hours, now: number): Span {
  const bucketMs = bucketSeconds[hours] * 1000
  const to = (Math.floor(now / bucketMs) + 1) * bucketMs
  const from = to - Number(hours) * 3_600_000
  return { hours, from, to, bucketMs, buckets: (to - from) / bucketMs }
}

/** Where a time stands, in percent from the left. */
export const placeIn = ({ from, to }: Span, time: number): number =>
  Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100))

/** Marks of the axis at whole hours or minutes of the zone of the browser. */
export function ticksOf({ hours, from, to }: Span): number[] {
  const stepMs = tickMinutes[hours] * 60_000
  const zoneMs = new Date(from).getTimezoneOffset() * 60_000
  const first = Math.ceil((from - zoneMs) / stepMs) * stepMs + zoneMs
  return Array.from({ length: Math.ceil((to - first) / stepMs) }, (_, tick) => first + tick * stepMs)
}

/**
 * The row in which each item stands, so that none covers another: the first row from the top that has room
 * for it. What has room nowhere stands in the last row.
 *
 * @param items by their left ends
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
 * The room that a band takes with its text, which may be longer than itself: the text begins in the band and
 * goes on at its right, or stands before it where that side has less room. All are percents of the width.
 */
export function roomOf({ left, right }: { left: number; right: number }, text: number) {
  return left + text <= 100 || left <= 50
    ? { left, right: Math.max(right, Math.min(100, left + text)), isBefore: false }
    : { left: Math.max(0, left - text), right, isBefore: true }
}

/** Failures of one cause in each bucket of the span. */
export interface Cause {
  /** Null: all causes that are not told apart. */
  fingerprint: string | null
  name: string
  count: number
  counts: number[]
}

/** Errors may be whole stack traces. */
const nameCharsMax = 120

/** The causes that have failures in the span, the most frequent one first. */
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

/** An area that stands on those before it. */
interface Area {
  cause: Cause
  /** Of an image whose width is the number of buckets and whose height is `height` of all areas. */
  path: string
  /** The bucket with most failures, and the middle of the area in it, from the bottom. */
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

/** The stairs of one run from left to right, and back along what is below. */
function areaOf([first, last]: Run, { counts }: Cause, lower: number[], height: number): string {
  const bottom = (bucket: number) => height - (lower[bucket] ?? 0)
  const buckets = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const there = buckets.map((bucket) => `V${bottom(bucket) - (counts[bucket] ?? 0)}H${bucket + 1}`)
  const back = buckets.toReversed().map((bucket) => `V${bottom(bucket)}H${bucket}`)
  return `M${first} ${bottom(first)}${there.join('')}${back.join('')}Z`
}

type Run = [first: number, last: number]

/** The first and last index of each run of values that fit. */
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

/** The longest latency in each bucket, in seconds; null where nothing is known. */
export function latenciesOf(span: Span, points: JobHistory['points']): (number | null)[] {
  const longest = Array.from({ length: span.buckets }, (): number | null => null)
  for (const { at, latency } of points) {
    const bucket = Math.floor((Date.parse(at) - span.from) / span.bucketMs)
    if (latency !== null && bucket in longest) longest[bucket] = Math.max(longest[bucket] ?? 0, latency)
  }
  return longest
}

/** A line of stairs, with a gap where nothing is known. */
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

/** Something in the picture that is a link. */
export interface Mark {
  key: string
  /** Number of its lane, from the top. */
  lane: number
  at: number
}

/**
 * The mark to which a key leads: along the lane, or to the nearest one in time of the next lane; undefined
 * for another key.
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

/** The current mark when the lane is none. */
const nearest = (marks: readonly Mark[], current: Mark, lane: number): Mark =>
  marks
    .filter((mark) => mark.lane === lane)
    .sort((a, b) => Math.abs(a.at - current.at) - Math.abs(b.at - current.at))[0] ?? current
