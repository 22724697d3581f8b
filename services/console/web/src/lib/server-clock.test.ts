import { expect, it } from 'vitest'
import { correctionOf, narrowed } from './server-clock'

const nothing = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
const at = Date.parse('2026-11-26T12:00:00Z')

it('a clock that may be right is not corrected', () => {
  // The server sends :00 for every time up to :00.999.
  const bounds = narrowed(nothing, at, { sentMs: at + 900, receivedMs: at + 950 })
  expect(correctionOf(bounds)).toBe(0)
})

it('a clock that is an hour fast is corrected by as little as the answers allow', () => {
  const fast = 3_600_000
  const bounds = narrowed(nothing, at, { sentMs: at + fast, receivedMs: at + fast + 200 })
  expect(correctionOf(bounds)).toBe(1000 - fast)
})

it('a clock that is an hour slow is corrected', () => {
  const slow = 3_600_000
  const bounds = narrowed(nothing, at, { sentMs: at - slow, receivedMs: at - slow + 200 })
  expect(correctionOf(bounds)).toBe(slow - 200)
})

it('each answer makes the time more exact', () => {
  const first = narrowed(nothing, at, { sentMs: at - 5000, receivedMs: at - 4000 })
  const second = narrowed(first, at + 1000, { sentMs: at - 3990, receivedMs: at - 3980 })
  expect(second.high - second.low).toBeLessThan(first.high - first.low)
})

it('a changed clock resets the correction', () => {
  const before = narrowed(nothing, at, { sentMs: at, receivedMs: at + 10 })
  const set = narrowed(before, at, { sentMs: at + 7_200_000, receivedMs: at + 7_200_010 })
  expect(correctionOf(set)).toBe(1000 - 7_200_000)
})
