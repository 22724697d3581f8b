import { expect, it } from 'vitest'
import { Wakeup } from './wakeup.js'

const longMs = 60_000

it('ends the wait under way, or the next one, and no wait after it', async () => {
  const wakeup = new Wakeup()
  const waiting = wakeup.wait(longMs)
  wakeup.wake()
  expect(await waiting).toBe(true)
  wakeup.wake()
  expect(await wakeup.wait(longMs)).toBe(true)
  expect(await wakeup.wait(1)).toBe(false)
})

it('ends a wait when its signal aborts, or has aborted', async () => {
  const wakeup = new Wakeup()
  const closing = new AbortController()
  const waiting = wakeup.wait(longMs, closing.signal)
  closing.abort()
  expect([await waiting, await wakeup.wait(longMs, closing.signal)]).toEqual([false, false])
})
