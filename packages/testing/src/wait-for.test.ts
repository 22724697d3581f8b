import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { holdsWithinASecond, waitFor } from './wait-for.js'

test('returns the first truthy result of the condition', async () => {
  let calls = 0
  const value = await waitFor(
    () => {
      calls += 1
      if (calls === 1) throw new Error('not yet')
      return calls === 3 && { calls }
    },
    { intervalMs: 1 },
  )
  expect(value).toEqual({ calls: 3 })
})

test('reports at the deadline the missing condition and its last error', async () => {
  const cause = new Error('still closed')
  const waiting = waitFor(() => Promise.reject(cause), { timeoutMs: 5, intervalMs: 1, what: 'the door' })
  await expect(waiting).rejects.toMatchObject({ message: 'timed out after 5 ms waiting for the door', cause })
})

test('accepts a late answer, and none that is wrong more than a second later', async () => {
  const halfASecondAgo = performance.now() - 500
  let asked = 0
  const late = async () => {
    asked += 1
    if (asked === 1) await delay(600)
    return asked > 1
  }
  await expect(holdsWithinASecond(late, halfASecondAgo)).resolves.toBeUndefined()
  const long = performance.now() - 1500
  await expect(holdsWithinASecond(async () => false, long)).rejects.toThrow(/does not hold 15\d\d ms later/)
})
