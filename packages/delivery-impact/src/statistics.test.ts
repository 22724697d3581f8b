import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dispersionOf, pValueOfShare, pValueOfValues } from './statistics.js'

describe('the p-value of a share', () => {
  it("is that of Fisher's exact test for the lady who tastes tea", () => {
    expect(pValueOfShare({ hits: 1, of: 4 }, { hits: 3, of: 4 })).toBeCloseTo(17 / 70, 10)
    expect(pValueOfShare({ hits: 0, of: 4 }, { hits: 4, of: 4 })).toBeCloseTo(1 / 70, 10)
  })

  it('is 1 without a hit', () => {
    expect(pValueOfShare({ hits: 0, of: 50 }, { hits: 0, of: 70 })).toBeCloseTo(1, 10)
  })

  it('never grows when a later trial becomes a hit', () => {
    const share = fc
      .integer({ min: 1, max: 300 })
      .chain((of) => fc.record({ hits: fc.nat(of - 1), of: fc.constant(of) }))
    fc.assert(
      fc.property(share, share, (earlier, later) => {
        const more = { ...later, hits: later.hits + 1 }
        expect(pValueOfShare(earlier, more)).toBeLessThanOrEqual(pValueOfShare(earlier, later) + 1e-9)
      }),
    )
  })
})

describe('the p-value of values', () => {
  const values = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

  it('is one half for equal samples, and nearly 0 for samples that do not overlap', () => {
    expect(pValueOfValues(values(1, 20), values(1, 20))).toBeCloseTo(0.5, 6)
    expect(pValueOfValues(values(1, 20), values(100, 20))).toBeLessThan(1e-6)
    expect(pValueOfValues(values(100, 20), values(1, 20))).toBeGreaterThan(0.999)
  })

  it('agrees with the example of Brunner and Munzel', () => {
    // Pain scores of two treatments. The two-sided probability of their test by the normal limit is 0.0017.
    const first = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
    const second = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
    expect(2 * pValueOfValues(first, second)).toBeCloseTo(0.0017, 3)
  })

  it('does not depend on the size of an outlier', () => {
    const later = values(1, 20)
    expect(pValueOfValues(values(1, 20), [...later, 1e9])).toBe(
      pValueOfValues(values(1, 20), [...later, 1e3]),
    )
  })

  it('is 1 for fewer than ten values', () => {
    expect(pValueOfValues(values(1, 9), values(100, 50))).toBe(1)
  })
})

it('the dispersion is about 1 for chance alone, and larger when hours differ', () => {
  expect(dispersionOf([])).toBe(1)
  expect(dispersionOf(Array.from({ length: 24 }, () => ({ hits: 5, of: 100 })))).toBe(1)
  expect(
    dispersionOf([
      { hits: 1, of: 100 },
      { hits: 40, of: 100 },
    ]),
  ).toBeGreaterThan(20)
})
