import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findImpact,
  isCommonCause,
  type QueueSample,
  type SagaRun,
  type ServiceHistory,
} from './find-impact.js'

const minute = 60_000
const moments = { from: 0, startedAt: 60 * minute, finishedAt: 62 * minute, to: 92 * minute, sagasMin: 20 }

/** Generates two sagas a minute; `change` returns the deviations of some. */
function historyOf(change: (run: SagaRun, number: number) => Partial<SagaRun> = () => ({})): ServiceHistory {
  const runs = Array.from({ length: 184 }, (_, number): SagaRun => {
    const seconds = 1 + (number % 7) / 10
    const run = { at: number * (minute / 2), failed: false, seconds, fingerprint: null, stuck: false }
    return { ...run, ...change(run, number) }
  })
  return { runs, queues: [], hours: { failed: [], stuck: [] }, knownFingerprints: new Set(['known']) }
}

const measures = (history: ServiceHistory) => findImpact(history, moments).map(({ measure }) => measure)
const failure = { failed: true, fingerprint: 'known' }

describe('what became worse with a deployment', () => {
  it('is nothing when nothing changes, at any rate of failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), (every) => {
        expect(measures(historyOf((_, number) => (number % every === 0 ? failure : {})))).toEqual([])
      }),
    )
  })

  it('names failures that begin with it, their rates and their beginning', () => {
    const history = historyOf(({ at }, number) => (at >= 63 * minute && number % 3 === 0 ? failure : {}))
    const [found] = findImpact(history, moments)
    expect(found).toMatchObject({
      measure: 'failures',
      before: 0,
      samplesBefore: 120,
      changePoint: 63 * minute,
    })
    expect(found?.after).toBeCloseTo(1 / 3, 1)
  })

  it('excludes failures that began before it, or a quarter of an hour after it', () => {
    for (const began of [50, 77])
      expect(
        measures(historyOf(({ at }, number) => (at >= began * minute && number % 2 ? failure : {}))),
      ).toEqual([])
  })

  it('is nothing with fewer than twenty sagas', () => {
    const history = historyOf(({ at }) => (at >= 62 * minute ? failure : {}))
    expect(findImpact(history, { ...moments, to: 70 * minute })).toEqual([])
  })

  it('names unknown failures, and no known ones', () => {
    const failing = (fingerprint: string) =>
      historyOf(({ at }, number) =>
        at >= 62 * minute && number % 12 === 0 ? { failed: true, fingerprint } : {},
      )
    expect(measures(failing('unseen'))).toContain('new_failure')
    expect(measures(failing('known'))).not.toContain('new_failure')
  })

  it('names sagas that become slower or wait', () => {
    expect(
      measures(historyOf(({ at, seconds }) => (at >= 62 * minute ? { seconds: 2 * (seconds ?? 0) } : {}))),
    ).toEqual(['duration'])
    expect(
      measures(historyOf(({ at }, number) => (at >= 62 * minute && number % 3 === 0 ? { stuck: true } : {}))),
    ).toEqual(['stuck'])
  })

  /** Generates a sample of queues for every minute from a day before the deployment. */
  const queuesOf = (change: (minute: number) => Partial<QueueSample>): ServiceHistory => ({
    ...historyOf(),
    queues: Array.from({ length: 1532 }, (_, number) => {
      const at = (number - 1440) * minute
      return { at, latencySeconds: number % 3, jobs: 30, failed: 0, ...change(number - 1440) }
    }),
  })

  it('names queues that become slower, and queues in which more attempts fail', () => {
    const slower = (after: number) =>
      queuesOf((at) => ({ latencySeconds: (at >= 62 ? after : 1) + (at % 2) }))
    expect(measures(slower(5))).toEqual(['queue_latency'])
    expect(measures(slower(2))).toEqual([])
    expect(measures(queuesOf((at) => ({ failed: at >= 62 && at % 2 === 0 ? 10 : 0 })))).toEqual([
      'failed_jobs',
    ])
    expect(measures(queuesOf((at) => ({ latencySeconds: null, failed: at % 7 === 0 ? 10 : 0 })))).toEqual([])
  })

  it('excludes queues that were as slow, or failed as often, in other hours of the day', () => {
    const isUsual = (at: number) => Math.floor((at + 1440) / 60) % 6 === 0 && at < 0
    const worse = (at: number) => ({ latencySeconds: 9, failed: at % 4 ? 10 : 0 })
    expect(measures(queuesOf((at) => (at >= 62 ? worse(at) : {})))).toEqual(['queue_latency', 'failed_jobs'])
    expect(measures(queuesOf((at) => (at >= 62 || isUsual(at) ? worse(at) : {})))).toEqual([])
  })

  it('requires more evidence when the rate of failures differs from hour to hour', () => {
    const history = historyOf(({ at }, number) => (at >= 62 * minute && number % 4 === 0 ? failure : {}))
    expect(measures(history)).toEqual(['failures'])
    const hours = Array.from({ length: 24 }, (_, hour) => ({ hits: hour % 6 === 0 ? 40 : 0, of: 120 }))
    expect(measures({ ...history, hours: { failed: hours, stuck: [] } })).toEqual([])
  })
})

it('a cause is common when services that were not deployed became worse at the same time', () => {
  const worse = historyOf(({ at }, number) => (at >= 63 * minute && number % 3 === 0 ? failure : {}))
  expect(isCommonCause([historyOf(), historyOf(), worse], moments)).toBe(false)
  expect(isCommonCause([worse, historyOf(), worse], moments)).toBe(true)
})
