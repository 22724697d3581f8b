import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TokenBucket } from './rate-limit.js'

/** What is let through of events that come at these times. */
const passed = (bucket: TokenBucket, times: number[]) =>
  times.filter((nowMs) => bucket.take(nowMs) === 0).length

describe('a token bucket', () => {
  it('lets a burst through at once, then the rate', () => {
    const bucket = new TokenBucket(10, 3, 0)
    expect([0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0])
    expect(bucket.take(0)).toBe(100)
    expect(bucket.take(40)).toBeCloseTo(60)
    expect(bucket.take(100)).toBe(0)
    expect(bucket.take(100)).toBeCloseTo(100)
  })

  it('never lets more through than the burst and the rate allow, and loses nothing it could let through', () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 })
    const limits = fc.record({
      perSecond: fc.integer({ min: 1, max: 2000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(arrivals, limits, (gaps, { perSecond, burst }) => {
        let now = 0
        const times = gaps.map((gap) => {
          now += gap
          return now
        })
        const count = passed(new TokenBucket(perSecond, burst, 0), times)
        expect(count).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6)
        expect(count).toBeGreaterThanOrEqual(Math.min(times.length, burst))
      }),
    )
  })

  it('says after which wait the next one passes: not a moment sooner', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 20 }), (perSecond, burst) => {
        const bucket = new TokenBucket(perSecond, burst, 0)
        for (let taken = 0; taken < burst; taken++) bucket.take(0)
        const waitMs = bucket.take(0)
        expect(bucket.take(waitMs * 0.99)).toBeGreaterThan(0)
        expect(bucket.take(waitMs + 0.001)).toBe(0)
      }),
    )
  })

  it('is not confused by a clock that steps back', () => {
    const bucket = new TokenBucket(1000, 1, 1000)
    expect(bucket.take(1000)).toBe(0)
    expect(bucket.take(0)).toBe(1)
    expect(bucket.take(1001)).toBe(0)
  })
})
