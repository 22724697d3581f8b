import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../clock.js'
import { includesScopes, type Scope, scopes } from './scopes.js'
import { earlierDay, hasExpired, lastDayAfterRotation, lastDayProblem, startOfDay } from './token-lifetime.js'

const day = (text: string) => new Date(`${text}T00:00:00Z`)

describe('the life of a token', () => {
  it('ends with its last day', () => {
    expect(hasExpired(day('2030-01-31'), new Date('2030-01-31T23:59:59Z'))).toBe(false)
    expect(hasExpired(day('2030-01-31'), day('2030-02-01'))).toBe(true)
    expect(hasExpired(null, day('9999-01-01'))).toBe(false)
  })

  it('has as many days after a rotation as before, however often a token is rotated', () => {
    const times = fc.date({ min: day('2020-01-01'), max: day('2040-01-01'), noInvalidDate: true })
    const given = { made: times, days: fc.nat(4000), waits: fc.array(fc.nat(4000), { maxLength: 5 }) }
    fc.assert(
      fc.property(fc.record(given), ({ made, days, waits }) => {
        let token = { createdAt: made, expiresAt: new Date(startOfDay(made).getTime() + days * dayMs) }
        for (const waited of waits) {
          const now = new Date(token.createdAt.getTime() + waited * dayMs)
          const lastDay = lastDayAfterRotation(token, now) ?? expect.unreachable()
          token = { createdAt: now, expiresAt: lastDay }
          expect((lastDay.getTime() - startOfDay(now).getTime()) / dayMs).toBe(days)
        }
      }),
    )
    expect(lastDayAfterRotation({ createdAt: day('2030-01-01'), expiresAt: null }, day('2030-01-02'))).toBe(
      null,
    )
  })

  it('is refused when it would end in the past, or after the latest day that is allowed', () => {
    const now = new Date('2030-01-15T12:00:00Z')
    expect(lastDayProblem(day('2030-01-14'), null, now)).toBe('must be today or later')
    expect(lastDayProblem(day('2030-01-15'), day('2030-01-15'), now)).toBe(null)
    expect(lastDayProblem(day('2030-01-21'), day('2030-01-20'), now)).toBe('must be 2030-01-20 or earlier')
    expect(lastDayProblem(null, day('2030-01-20'), now)).toBe('must be 2030-01-20 or earlier')
    expect(lastDayProblem(null, null, now)).toBe(null)
  })

  it('ends at the earlier of two ends, and no end is the latest', () => {
    expect(earlierDay(null, day('2030-01-01'))).toEqual(day('2030-01-01'))
    expect(earlierDay(day('2030-01-02'), day('2030-01-01'))).toEqual(day('2030-01-01'))
    expect(earlierDay(null, null)).toBe(null)
  })
})

describe('scopes of a token', () => {
  const some = fc.subarray([...scopes] as Scope[])

  it('are never widened: of two tokens in a row, the first already allows everything', () => {
    fc.assert(
      fc.property(some, some, some, (a, b, c) => {
        fc.pre(includesScopes(a, b) && includesScopes(b, c))
        expect(includesScopes(a, c)).toBe(true)
      }),
    )
  })

  it('exclude, for `api`, the operations of administrators and their tokens', () => {
    expect(includesScopes(['api'], ['read_api', 'write_repository', 'self_rotate'])).toBe(true)
    expect(includesScopes(['api'], ['saga_report'])).toBe(false)
    expect(includesScopes(['api'], ['read_sagas'])).toBe(false)
    expect(includesScopes(['api'], ['read_metrics'])).toBe(false)
    expect(includesScopes(['api'], ['manage_jobs'])).toBe(false)
    expect(includesScopes(['api'], ['manage_broadcasts'])).toBe(false)
    expect(includesScopes(['read_api'], ['api'])).toBe(false)
  })
})
