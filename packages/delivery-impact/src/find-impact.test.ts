import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findImpact, isCommonCause, type SagaRun, type ServiceHistory } from './find-impact.js'

const minute = 60_000
const moments = { from: 0, startedAt: 60 * minute, finishedAt: 62 * minute, to: 92 * minute, sagasMin: 20 }

/** Two sagas a minute; `change` says what is different about some. */
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
  it('is nothing where nothing changes, whatever the rate of failures is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), (every) => {
        expect(measures(historyOf((_, number) => (number % every === 0 ? failure : {})))).toEqual([])
      }),
    )
  })

  it('names failures that begin with it, their rates and when they begin', () => {
    const history = historyOf(({ at }, number) => (at >= 63 * minute && number % 3 === 0 ? failure : {}))
    const [found] = findImpact(history, moments)
    expect(found).toMatchObject({ measure: 'failures', before: 0, samplesBefore: 120, onset: 63 * minute })
    expect(found?.after).toBeCloseTo(1 / 3, 1)
  })

  it('says nothing about failures that began before, or a quarter of an hour after it', () => {
    for (const began of [50, 77])
      expect(
        measures(historyOf(({ at }, number) => (at >= began * minute && number % 2 ? failure : {}))),
      ).toEqual([])
  })

  it('says nothing with fewer than twenty sagas', () => {
    const history = historyOf(({ at }) => (at >= 62 * minute ? failure : {}))
    expect(findImpact(history, { ...moments, to: 70 * minute })).toEqual([])
  })

  it('names causes that nobody saw before, and no cause that was known', () => {
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

  it('names queues that become slower, and jobs that are given up', () => {
    const queues = Array.from({ length: 92 }, (_, number) => ({
      at: number * minute,
      latencySeconds: (number >= 62 ? 5 : 1) + (number % 5) / 10,
      dead: number >= 62 && number % 2 === 0 ? 1 : 0,
    }))
    expect(measures({ ...historyOf(), queues })).toEqual(['queue_latency', 'dead_jobs'])
  })

  it('needs more proof where the rate of failures differs from hour to hour', () => {
    const history = historyOf(({ at }, number) => (at >= 62 * minute && number % 4 === 0 ? failure : {}))
    expect(measures(history)).toEqual(['failures'])
    const hours = Array.from({ length: 24 }, (_, hour) => ({ hits: hour % 6 === 0 ? 40 : 0, of: 120 }))
    expect(measures({ ...history, hours: { failed: hours, stuck: [] } })).toEqual([])
  })
})

it('a cause is common where services that were not deployed became worse at the same time', () => {
  const worse = historyOf(({ at }, number) => (at >= 63 * minute && number % 3 === 0 ? failure : {}))
  expect(isCommonCause([historyOf(), historyOf(), worse], moments)).toBe(false)
  expect(isCommonCause([worse, historyOf(), worse], moments)).toBe(true)
})
