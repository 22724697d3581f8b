import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { repeat } from './repeat.js'

const longMs = 60_000

it('does the work after each pause, also when it failed, and reports the failure', async () => {
  const failures: unknown[] = []
  let times = 0
  const work = async () => {
    times += 1
    if (times === 1) throw new Error('the first time')
  }
  const repeated = repeat(work, 1, (error) => failures.push(error))
  await expect.poll(() => times).toBeGreaterThan(2)
  await repeated.close()
  expect(failures).toEqual([new Error('the first time')])
})

it('does the work at once when it is woken, in the pause as while it works', async () => {
  const ends: (() => void)[] = []
  const repeated = repeat(
    () => new Promise((resolve) => void ends.push(resolve)),
    longMs,
    () => {},
  )
  repeated.wake()
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await delay(10)
  expect(ends).toHaveLength(2)
  repeated.wake()
  await expect.poll(() => ends.length).toBe(3)
  ends[2]?.()
  await repeated.close()
})

it('waits for the work under way when it is closed, tells it so, and reports nothing any more', async () => {
  const failures: unknown[] = []
  let isOver = false
  const work = async (signal: AbortSignal) => {
    await delay(longMs, undefined, { signal }).catch(() => {})
    await delay(10)
    isOver = true
    signal.throwIfAborted()
  }
  const repeated = repeat(work, 1, (error) => failures.push(error))
  await repeated.close()
  expect([isOver, failures]).toEqual([true, []])
})
