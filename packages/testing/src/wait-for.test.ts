import { expect, test } from 'vitest'
import { waitFor } from './wait-for.js'

test('gives what the condition gave once it is truthy', async () => {
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

test('at the deadline says what it waited for, and why it was not so', async () => {
  const cause = new Error('still closed')
  const waiting = waitFor(() => Promise.reject(cause), { timeoutMs: 5, intervalMs: 1, what: 'the door' })
  await expect(waiting).rejects.toMatchObject({ message: 'timed out after 5 ms waiting for the door', cause })
})
