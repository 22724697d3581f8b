import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptsMax, retryDelayMs } from './retry-delay.js'

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
