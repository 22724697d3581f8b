import { expect, it } from 'vitest'
import {
  causesOf,
  latenciesOf,
  lineOf,
  markAfter,
  placeIn,
  roomOf,
  rowsOf,
  spanOf,
  stack,
} from './time-line-model'

const minute = 60_000
const noon = Date.parse('2026-11-27T12:00:00Z')
const span = spanOf('1', noon + 30_000)
const iso = (time: number) => new Date(time).toISOString()

it('a span has whole buckets, the last of which is still open', () => {
  expect(span).toEqual({
    hours: '1',
    from: noon - 59 * minute,
    to: noon + minute,
    bucketMs: minute,
    buckets: 60,
  })
  expect(spanOf('24', noon)).toMatchObject({ to: noon + 15 * minute, buckets: 96 })
  expect([
    placeIn(span, span.from - 1),
    placeIn(span, noon - 29 * minute),
    placeIn(span, span.to + 1),
  ]).toEqual([0, 50, 100])
})

it('overlapping items move to the next row, and to the last one when no row has room', () => {
  const items = [0, 1, 2, 10, 11].map((left) => ({ left, right: left + 5 }))
  expect(rowsOf(items, 3)).toEqual([0, 1, 2, 0, 1])
  expect(rowsOf(items, 2)).toEqual([0, 1, 1, 0, 1])
})

it.each([
  [{ left: 10, right: 12 }, 30, { left: 10, right: 40, isBefore: false }],
  [{ left: 10, right: 60 }, 30, { left: 10, right: 60, isBefore: false }],
  [{ left: 90, right: 92 }, 30, { left: 60, right: 92, isBefore: true }],
  [{ left: 60, right: 62 }, 70, { left: 0, right: 62, isBefore: true }],
  [{ left: 40, right: 42 }, 130, { left: 40, right: 100, isBefore: false }],
])('the band %j with a text of %d takes %j', (band, text, room) => {
  expect(roomOf(band, text)).toEqual(room)
})

/**
 * Failures of three causes in the buckets after the first one of the span; the history begins two buckets
 * earlier.
 */
const history = {
  from: iso(span.from - 2 * minute),
  to: iso(noon),
  bucket_seconds: 60,
  causes: [
    {
      fingerprint: 'f1',
      sample: 'the bank is closed\n  at pay (bank.js:1)',
      count: 6,
      counts: [9, 9, 0, 2, 4],
    },
    { fingerprint: 'f2', sample: 'no room', count: 1, counts: [1] },
  ],
  other: { count: 1, counts: [0, 0, 0, 1] },
}

it('failures are stacked by cause, the most frequent one at the bottom', () => {
  const causes = causesOf(span, history)
  expect(causes.map(({ name, count, counts }) => [name, count, counts.slice(0, 4)])).toEqual([
    ['the bank is closed', 6, [0, 2, 4, 0]],
    ['Other causes', 1, [0, 1, 0, 0]],
  ])
  const { areas, height } = stack(causes)
  expect(height).toBe(4)
  expect(areas.map(({ path }) => path)).toEqual(['M1 4V2H2V0H3V4H2V4H1Z', 'M1 2V1H2V2H1Z'])
  expect(areas.map(({ peak }) => peak)).toEqual([
    { bucket: 2, middle: 2, count: 4 },
    { bucket: 1, middle: 2.5, count: 1 },
  ])
})

it('a span without failures has no areas', () => {
  expect(stack(causesOf(span, { ...history, causes: [], other: { count: 0, counts: [] } }))).toEqual({
    areas: [],
    height: 1,
  })
})

it('the latency line has the maximum of each bucket, and a gap without data', () => {
  const figures = { backlog: 0, processed: 0, failed: 0, busy: 0 }
  const pointAt = (seconds: number, latency: number | null) => ({
    ...figures,
    at: iso(span.from + seconds * 1000),
    latency,
  })
  const points = [
    pointAt(-1, 99),
    pointAt(0, 1),
    pointAt(30, 5),
    pointAt(60, 2),
    pointAt(120, null),
    pointAt(180, 3),
  ]
  const latencies = latenciesOf(span, points)
  expect(latencies.slice(0, 5)).toEqual([5, 2, null, 3, null])
  expect(lineOf(latencies, 5)).toBe('M0 0H1V3H2M3 2H4')
})

it('arrow keys move along a lane and to the nearest mark of the next lane', () => {
  const marks = [
    { key: 'a', lane: 0, at: 10 },
    { key: 'b', lane: 2, at: 30 },
    { key: 'c', lane: 2, at: 12 },
    { key: 'd', lane: 2, at: 20 },
  ]
  const [a, b, c, d] = marks as [(typeof marks)[0], (typeof marks)[0], (typeof marks)[0], (typeof marks)[0]]
  expect(markAfter(marks, a, 'ArrowDown')).toBe(c)
  expect(markAfter(marks, a, 'ArrowUp')).toBe(a)
  expect(markAfter(marks, b, 'ArrowUp')).toBe(a)
  expect(markAfter(marks, b, 'ArrowDown')).toBe(b)
  expect(markAfter(marks, c, 'ArrowRight')).toBe(d)
  expect(markAfter(marks, c, 'ArrowLeft')).toBe(c)
  expect(markAfter(marks, b, 'ArrowRight')).toBe(b)
  expect([markAfter(marks, d, 'Home'), markAfter(marks, d, 'End')]).toEqual([c, b])
  expect(markAfter(marks, d, 'Enter')).toBeUndefined()
})
