import { describe, expect, it } from 'vitest'
import { LaneChoice, processUsage } from './lane-choice.js'

/** A choice among four lanes, and the clocks of its process. */
function startChoice() {
  const usage = { nowMs: 5000, activeMs: 4000, cpuMs: 4000 }
  const choice = new LaneChoice(4, () => ({ ...usage }))
  /** Seconds in each of which it was active and had a core for so many milliseconds; the lanes after each. */
  const pass = (seconds: number, activeMs: number, cpuMs: number) =>
    Array.from({ length: seconds }, () => {
      usage.nowMs += 1000
      usage.activeMs += activeMs
      usage.cpuMs += cpuMs
      choice.look()
      return choice.lanes
    })
  return { usage, choice, pass }
}

describe('lanes', () => {
  it('are as many as allowed while the process has a core whenever it has something to do', () => {
    const { choice, pass } = startChoice()
    expect(choice.lanes).toBe(4)
    // Collecting garbage in a thread of its own, it uses more than one core.
    expect(pass(3, 800, 1000)).toEqual([4, 4, 4])
    expect(pass(5, 800, 750)).toEqual([4, 4, 4, 4, 4])
  })

  it('are one while it waits for a core, until it hardly does', () => {
    const { pass } = startChoice()
    expect(pass(4, 800, 500).at(-1)).toBe(1)
    expect(pass(20, 600, 520)).toEqual(Array.from({ length: 20 }, () => 1))
    expect(pass(4, 800, 760).at(-1)).toBe(4)
    expect(pass(20, 600, 520)).toEqual(Array.from({ length: 20 }, () => 4))
  })

  it('are not changed by one bad second, nor by seconds with little to do', () => {
    const { pass } = startChoice()
    expect(pass(1, 700, 520)).toEqual([4])
    expect(pass(2, 800, 780)).toEqual([4, 4])
    expect(pass(20, 299, 100)).toEqual(Array.from({ length: 20 }, () => 4))
  })

  it('are as before a few seconds after the whole process was stopped', () => {
    const { pass } = startChoice()
    expect(pass(1, 60_000, 0)).toEqual([1])
    expect(pass(4, 800, 800).at(-1)).toBe(4)
  })

  it('are looked at once a second, however many batches there are', () => {
    const { usage, choice } = startChoice()
    for (let batch = 0; batch < 999; batch += 1) {
      usage.nowMs += 1
      usage.activeMs += 1
      choice.look()
    }
    expect(choice.lanes).toBe(4)
    usage.nowMs += 1
    usage.cpuMs += 100
    choice.look()
    expect(choice.lanes).toBe(1)
  })
})

it('what a process has used counts up while it works', () => {
  const before = processUsage()
  for (let sum = 0; processUsage().cpuMs - before.cpuMs < 50; ) sum += Math.sqrt(sum + 1)
  const after = processUsage()
  expect(after.nowMs).toBeGreaterThan(before.nowMs)
  expect(after.activeMs).toBeGreaterThan(before.activeMs)
})
