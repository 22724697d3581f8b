import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorCodes } from './error-codes.js'
import { FloodGuard } from './flood-guard.js'

const burst = 1000
const perSecond = 33

const tooMany = expect.objectContaining({ name: 'ConnectionError', code: errorCodes.enhanceYourCalm })

/** How many frames of one moment are let through, up to more than there ever are. */
function allowed(guard: FloodGuard, nowMs: number): number {
  for (let count = 0; count < 2 * burst; count++)
    try {
      guard.count(nowMs)
    } catch (error) {
      expect(error).toEqual(tooMany)
      return count
    }
  return 2 * burst
}

it('lets a thousand useless frames of one moment through, and no more', () => {
  expect(allowed(new FloodGuard(), 0)).toBe(burst)
  expect(allowed(new FloodGuard(), 1e9)).toBe(burst)
})

it('never ends a client that sends no more of them than it earns', () => {
  const guard = new FloodGuard()
  expect(() => {
    for (let count = 0; count < 20_000; count++) guard.count(500 + (count * 1000) / perSecond)
  }).not.toThrow()
})

it('lets no more through, in any time, than the burst and what that time earns', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(20), fc.nat(5000)), { size: 'large' }), (pausesMs) => {
      const guard = new FloodGuard()
      allowed(guard, 0)
      let nowMs = 0
      let through = burst
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs
        try {
          guard.count(nowMs)
        } catch {
          return
        }
        through += 1
        expect(through).toBeLessThanOrEqual(burst + (nowMs / 1000) * perSecond + 1e-6)
      }
    }),
  )
})

it.each([0, 1, 30, 1e6])(
  'gives the allowance back with the time, but no more than all, after %d s',
  (pause) => {
    const guard = new FloodGuard()
    for (let count = 0; count < burst; count++) guard.count(0)
    expect(allowed(guard, pause * 1000)).toBe(Math.min(burst, pause * perSecond))
  },
)
