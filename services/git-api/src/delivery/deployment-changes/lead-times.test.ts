import { describe, expect, it } from 'vitest'
import { leadTimesOf } from './lead-times.js'

const finishedAt = new Date('2026-02-01T00:00:00.900Z')
const finished = Date.parse('2026-02-01T00:00:00Z') / 1000

describe('the lead times of a deployment', () => {
  it('are the seconds from each author date to its end, ascending', () => {
    expect(leadTimesOf([finished - 5, finished - 60, finished - 1], finishedAt)).toEqual([1, 5, 60])
  })

  it("are never negative, nor larger than PostgreSQL's integers", () => {
    expect(leadTimesOf([finished + 3600, -(10 ** 12)], finishedAt)).toEqual([0, 2_147_483_647])
  })

  it('are at most 20, which keep the median, minimum and maximum of many', () => {
    const kept = leadTimesOf(
      Array.from({ length: 10_000 }, (_, index) => finished - index),
      finishedAt,
    )
    expect(kept).toHaveLength(20)
    expect([kept[0], kept[9], kept[19]]).toEqual([250, 4750, 9750])
  })
})
