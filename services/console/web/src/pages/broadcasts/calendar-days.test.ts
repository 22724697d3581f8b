import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { dayStarts, placeInDays } from './calendar-days'

beforeAll(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

const daysOf = (starts: number[]) => starts.map((start) => new Date(start).getDate())

it('calendar days have one name each across the end and the start of summer time', () => {
  expect(daysOf(dayStarts(Date.parse('2026-10-24T10:00:00Z'), 3))).toEqual([24, 25, 26, 27])
  expect(daysOf(dayStarts(Date.parse('2026-03-28T10:00:00Z'), 3))).toEqual([28, 29, 30, 31])
  expect(daysOf(dayStarts(Date.parse('2027-10-30T10:00:00Z'), 3))).toEqual([30, 31, 1, 2])
})

it('calendar days begin at midnight', () => {
  const starts = dayStarts(Date.parse('2026-10-24T10:00:00Z'), 3)
  expect(starts.map((start) => new Date(start).getHours())).toEqual([0, 0, 0, 0])
})

it('an instant has its place within its day, however long the day is', () => {
  const starts = dayStarts(Date.parse('2026-10-25T10:00:00Z'), 2)
  // 25 October has 25 hours; noon of the next day is in the middle of the second half.
  expect(placeInDays(Date.parse('2026-10-26T11:00:00Z'), starts)).toBe(75)
  expect(placeInDays(starts[1] ?? 0, starts)).toBe(50)
  expect([placeInDays(0, starts), placeInDays(Number.MAX_SAFE_INTEGER, starts)]).toEqual([0, 100])
})
