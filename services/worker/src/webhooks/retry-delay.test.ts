import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptsMax, retryAfterMs, retryDelayMs } from './retry-delay.js'

describe('retryDelayMs', () => {
  it('spreads ten attempts over about a day', () => {
    const delays = Array.from(
      { length: attemptsMax - 1 },
      (_, index) => retryDelayMs(index + 1, () => 0.5) ?? 0,
    )
    expect(delays.slice(0, 3)).toEqual([30_000, 90_000, 270_000])
    const hours = delays.reduce((sum, delay) => sum + delay, 0) / 3_600_000
    expect(hours).toBeGreaterThan(20)
    expect(hours).toBeLessThan(28)
    expect(retryDelayMs(attemptsMax)).toBeNull()
  })

  it('varies by a fifth at most, whatever the attempt', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: attemptsMax - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, random) => {
          const middle = retryDelayMs(attempts, () => 0.5) ?? 0
          const delay = retryDelayMs(attempts, () => random) ?? 0
          return delay >= middle * 0.8 - 1 && delay <= middle * 1.2 + 1
        },
      ),
    )
  })
})

describe('retryAfterMs', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  const later = 'Sat, 21 Nov 2026 12:10:00 GMT'

  it.each([
    ['120', undefined, 120_000],
    [' 7 ', undefined, 7000],
    ['999999999999', undefined, 6 * 3_600_000],
    [later, undefined, 600_000],
    // The clock of the receiver is an hour ahead of ours.
    ['Sat, 21 Nov 2026 13:10:00 GMT', 'Sat, 21 Nov 2026 13:00:00 GMT', 600_000],
    ['Sat, 21 Nov 2026 13:10:00 GMT', 'some day', 70 * 60_000],
    ['Fri, 20 Nov 2026 12:00:00 GMT', undefined, null],
    ['0', undefined, null],
    ['-5', undefined, null],
    ['1.5', undefined, null],
    ['1e3', undefined, null],
    ['soon', undefined, null],
    ['', undefined, null],
    [undefined, undefined, null],
  ])('reads %j of a receiver whose date is %j as %j', (retryAfter, date, expected) => {
    const given = {
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
      ...(date ? { date } : {}),
    }
    expect(retryAfterMs(given, now)).toBe(expected)
  })

  it('returns a pause within its bounds, or none, for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, date) => {
        const pauseMs = retryAfterMs({ 'retry-after': text, date }, now)
        return pauseMs === null || (pauseMs > 0 && pauseMs <= 6 * 3_600_000)
      }),
    )
  })
})
