import { describe, expect, it } from 'vitest'
import type { QueueSample, SagaRun } from './find-impact.js'
import { recoveryOf } from './recovery.js'

const minute = 60_000
const now = 300 * minute
const sagasMin = 20

/** Generates two sagas a minute, with fields by their age in minutes. */
const runsBy = (of: (minutesAgo: number, index: number) => Partial<SagaRun>): SagaRun[] =>
  Array.from({ length: 240 }, (_, index) => {
    const minutesAgo = 120 - index / 2
    const usual = { failed: false, seconds: 3, fingerprint: null, stuck: false }
    return { at: now - minutesAgo * minute, ...usual, ...of(minutesAgo, index) }
  })

const failures = {
  measure: 'failures',
  before: 0.02,
  after: 0.5,
  changePoint: now - 100 * minute,
  fingerprint: '',
} as const
const recovery = (finding: Parameters<typeof recoveryOf>[0], runs: SagaRun[], queues: QueueSample[] = []) =>
  recoveryOf(finding, { runs, queues }, { from: 0, now, sagasMin })

/**
 * Generates sagas of which every second one fails from the beginning of the finding until so many minutes
 * ago.
 */
const failingUntil = (minutesAgo: number) =>
  runsBy((age, index) => ({
    failed: age <= 100 && age > minutesAgo && index % 2 === 0,
    fingerprint: age <= 100 && age > minutesAgo && index % 2 === 0 ? 'f1' : null,
  }))

describe('the recovery of a figure', () => {
  it('is the moment from which the figure is as before', () => {
    const found = recovery(failures, failingUntil(40)) as number
    expect(Math.abs(found - (now - 40 * minute))).toBeLessThanOrEqual(minute)
  })

  it('is missing while the figure is worse, and when it recovered only just now', () => {
    expect(recovery(failures, failingUntil(0))).toBeNull()
    expect(recovery(failures, failingUntil(5))).toBeNull()
  })

  it('of a new failure is found when no saga has it any more', () => {
    const finding = { ...failures, measure: 'new_failure', before: null, fingerprint: 'f1' } as const
    expect(recovery(finding, failingUntil(40))).not.toBeNull()
    const once = failingUntil(40)
    once.push({ at: now - minute, failed: true, seconds: null, fingerprint: 'f1', stuck: false })
    expect(recovery(finding, once)).toBeNull()
  })

  it('of a duration is found when its median is as before', () => {
    const finding = { ...failures, measure: 'duration', before: 3, after: 12 } as const
    const found = recovery(
      finding,
      runsBy((age) => ({ seconds: age <= 100 && age > 40 ? 12 : 3 })),
    ) as number
    expect(Math.abs(found - (now - 40 * minute))).toBeLessThanOrEqual(minute)
    expect(
      recovery(
        finding,
        runsBy(() => ({ seconds: 12 })),
      ),
    ).toBeNull()
  })

  it('is not found with too few sagas, or with sagas before the beginning', () => {
    const few = failingUntil(40).filter((_, index) => index % 30 === 0)
    expect(recovery(failures, few)).toBeNull()
    expect(recovery({ ...failures, changePoint: now - 10 * minute }, failingUntil(12))).toBeNull()
  })

  const queuesBy = (of: (minutesAgo: number) => Partial<QueueSample>) =>
    Array.from({ length: 120 }, (_, index): QueueSample => {
      const minutesAgo = 120 - index
      return { at: now - minutesAgo * minute, latencySeconds: 1, jobs: 10, failed: 0, ...of(minutesAgo) }
    })

  it('of queues is the moment from which jobs wait and fail as before', () => {
    const until = (minutesAgo: number) =>
      queuesBy((age) => (age <= 100 && age > minutesAgo ? { latencySeconds: 60, failed: 5 } : {}))
    const latency = { ...failures, measure: 'queue_latency', before: 1, after: 60 } as const
    const failed = { ...failures, measure: 'failed_jobs', before: 0, after: 0.5 } as const
    for (const finding of [latency, failed]) {
      const found = recovery(finding, [], until(40)) as number
      expect(Math.abs(found - (now - 40 * minute))).toBeLessThanOrEqual(minute)
      expect(recovery(finding, [], until(0))).toBeNull()
      expect(recovery(finding, [], [])).toBeNull()
    }
  })
})
