import { describe, expect, it } from 'vitest'
import { latencySeconds } from './sources.js'

describe('latency', () => {
  it('is the age of the oldest job in whole seconds, truncated', () => {
    expect(latencySeconds([9000, 5001, null, 8000], 10_000)).toBe(4)
  })

  it('is 0 without jobs, and with jobs whose hashes no longer exist', () => {
    expect(latencySeconds([], 10_000)).toBe(0)
    expect(latencySeconds([null, null], 10_000)).toBe(0)
  })

  it('is never negative, even when the clock of a producer is ahead', () => {
    expect(latencySeconds([10_500], 10_000)).toBe(0)
    expect(Object.is(latencySeconds([10_500], 10_000), -0)).toBe(false)
  })
})
