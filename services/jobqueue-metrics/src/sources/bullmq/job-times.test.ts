import { describe, expect, it } from 'vitest'
import { dueMs, overdueScoreMax, runnableSinceMs } from './job-times.js'

const job = { timestamp: '1000000', processedOn: null, opts: null }

describe('a waiting job has been runnable', () => {
  it('since its creation', () => {
    expect(runnableSinceMs(job)).toBe(1_000_000)
  })

  it('since the end of its delay, although its timestamp is the time of its creation', () => {
    expect(runnableSinceMs({ ...job, opts: '{"delay":3600000,"attempts":3}' })).toBe(4_600_000)
  })

  it('since its last attempt when it was tried before', () => {
    expect(runnableSinceMs({ ...job, processedOn: '9000000', opts: '{"delay":5}' })).toBe(9_000_000)
  })

  it('for an unknown time when its hash no longer exists', () => {
    expect(runnableSinceMs({ timestamp: null, processedOn: null, opts: null })).toBeNull()
  })

  it.each(['', '{', 'null', '[]', '{"delay":"soon"}', '{"delay":null}'])(
    'since its creation when its options are %j',
    (opts) => {
      expect(runnableSinceMs({ ...job, opts })).toBe(1_000_000)
    },
  )
})

describe('scores of delayed jobs', () => {
  const counters = [0, 1, 4095]
  const dues = [0, 1, 1_795_247_601_632, Date.UTC(2038, 11, 31)]

  it.each(dues.flatMap((due) => counters.map((counter) => [due, counter] as const)))(
    'tell a job due at %i from later ones, whatever the counter in them is (%i)',
    (due, counter) => {
      const score = due * 4096 + counter
      expect(dueMs(score)).toBe(due)
      expect(score <= overdueScoreMax(due)).toBe(true)
      expect(score <= overdueScoreMax(due - 1)).toBe(false)
    },
  )
})
