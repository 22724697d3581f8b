import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { localTime, momentsOfLocal, timeOfLocal } from './local-time'

beforeAll(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

// On 25 October 2026, the hour from 2 to 3 occurs twice in Berlin: first as UTC+2, then as UTC+1.
const first = '2026-10-25T00:30:15.000Z'
const second = '2026-10-25T01:30:15.000Z'

describe('a time in a field', () => {
  it('keeps its seconds', () => {
    expect(localTime('2026-07-01T10:20:37.000Z')).toBe('2026-07-01T12:20:37')
    expect(timeOfLocal('2026-07-01T12:20:37')).toBe('2026-07-01T10:20:37.000Z')
  })

  it('stays the same in the hour that occurs twice, both times', () => {
    for (const time of [first, second]) expect(timeOfLocal(localTime(time), time)).toBe(time)
  })

  it('has two instants in the hour that occurs twice, and one elsewhere', () => {
    expect(momentsOfLocal('2026-10-25T02:30:15')).toEqual([first, second])
    expect(momentsOfLocal('2026-10-25T03:30:15')).toHaveLength(1)
    expect(momentsOfLocal('2026-10-25T01:30:15')).toHaveLength(1)
  })

  it('is an hour later in the hour that is skipped', () => {
    expect(momentsOfLocal('2026-03-29T02:30')).toEqual(['2026-03-29T01:30:00.000Z'])
  })

  it('is missing when the field is empty or invalid', () => {
    expect([localTime(undefined), localTime('yesterday')]).toEqual(['', ''])
    expect([timeOfLocal(''), timeOfLocal('yesterday')]).toEqual([undefined, undefined])
  })
})
