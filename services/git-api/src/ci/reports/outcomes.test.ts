import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareOutcomes, flakyMarks, markFlaky, type Outcome, packOutcomes } from './outcomes.js'

const pack = (outcomes: Record<string, Outcome>) =>
  packOutcomes(Object.entries(outcomes).map(([name, outcome]) => ({ identity: [name], outcome })))

describe('comparing the outcomes of two reports', () => {
  it('finds new, broken, fixed and vanished tests', () => {
    const before = pack({ a: 'success', b: 'failed', c: 'error', d: 'success', e: 'failed' })
    const now = pack({ a: 'failed', b: 'success', c: 'error', f: 'failed', e: 'skipped', g: 'success' })
    expect(compareOutcomes(now, before)).toEqual({
      added: [3, 5],
      broken: [0, 3],
      stillFailing: [2],
      fixed: [1],
      flaky: [],
      gone: 1,
    })
  })

  it('finds no new or fixed tests without an earlier report', () => {
    expect(compareOutcomes(pack({ a: 'failed', b: 'success' }), null)).toMatchObject({
      added: [],
      broken: [0],
      fixed: [],
      gone: 0,
    })
  })
})

it('long names are hashed once, however many tests are in a suite', () => {
  const named = (end: string) => ({
    identity: ['s'.repeat(5_000_000) + end, 'a'],
    outcome: 'success' as const,
  })
  const suite = named('x')
  const packed = packOutcomes(Array.from({ length: 5_000 }, () => suite))
  expect(compareOutcomes(packed, packOutcomes([suite]))).toMatchObject({ added: [], gone: 0 })
  expect(compareOutcomes(packOutcomes([named('y')]), packed)).toMatchObject({ added: [0], gone: 1 })
})

describe('flaky tests', () => {
  const failed = pack({ a: 'failed', b: 'success', c: 'skipped' })
  const passed = pack({ a: 'success', b: 'success', c: 'success' })

  it('are tests that failed and passed in two reports of one name', () => {
    expect(flakyMarks(markFlaky(passed, [failed]))).toEqual([true, false, false])
  })

  it('stay flaky in the reports that follow', () => {
    const marked = markFlaky(passed, [failed])
    expect(flakyMarks(markFlaky(passed, [marked]))).toEqual([true, false, false])
  })

  it('are found within one report', () => {
    const twice = packOutcomes([
      { identity: ['a'], outcome: 'failed' },
      { identity: ['a'], outcome: 'success' },
    ])
    expect(flakyMarks(markFlaky(twice, []))).toEqual([true, true])
  })

  it('are not found when the same report is posted again', () => {
    const outcome = fc.constantFrom<Outcome>('success', 'failed', 'error', 'skipped')
    fc.assert(
      fc.property(fc.dictionary(fc.string(), outcome, { maxKeys: 10 }), (tests) => {
        const packed = pack(tests)
        expect(markFlaky(packed, [packed])).toEqual(packed)
      }),
      { numRuns: 50 },
    )
  })
})
