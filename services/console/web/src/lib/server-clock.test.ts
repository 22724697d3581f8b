import { expect, it } from 'vitest'
import { correctionOf, narrowed } from './server-clock'

const nothing = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
const at = Date.parse('2026-11-26T12:00:00Z')

it('leaves a clock alone that may be right', () => {
  // The server says :00 for everything up to :00.999.
  const bounds = narrowed(nothing, at, { sentMs: at + 900, receivedMs: at + 950 })
  expect(correctionOf(bounds)).toBe(0)
})

it('corrects a clock that is an hour fast, by as little as the answers allow', () => {
  const fast = 3_600_000
  const bounds = narrowed(nothing, at, { sentMs: at + fast, receivedMs: at + fast + 200 })
  expect(correctionOf(bounds)).toBe(1000 - fast)
})

it('corrects a clock that is an hour slow', () => {
  const slow = 3_600_000
  const bounds = narrowed(nothing, at, { sentMs: at - slow, receivedMs: at - slow + 200 })
  expect(correctionOf(bounds)).toBe(slow - 200)
})

it('knows the time better with each answer', () => {
  const first = narrowed(nothing, at, { sentMs: at - 5000, receivedMs: at - 4000 })
  const second = narrowed(first, at + 1000, { sentMs: at - 3990, receivedMs: at - 3980 })
  expect(second.high - second.low).toBeLessThan(first.high - first.low)
})

it('begins anew when a clock was set meanwhile', () => {
  const before = narrowed(nothing, at, { sentMs: at, receivedMs: at + 10 })
  const set = narrowed(before, at, { sentMs: at + 7_200_000, receivedMs: at + 7_200_010 })
  expect(correctionOf(set)).toBe(1000 - 7_200_000)
})
