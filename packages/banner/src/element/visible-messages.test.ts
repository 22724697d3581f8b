import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Message } from './message.js'
import { createVisibleMessages } from './visible-messages.js'

const endsAt = new Date('2030-01-01T00:00:00.000Z')
const message = { id: 1, ends_at: endsAt.toISOString() } as Message
let shown: Message[] | undefined
let visible: ReturnType<typeof createVisibleMessages>

beforeEach(() => {
  vi.useFakeTimers()
  visible = createVisibleMessages((messages) => {
    shown = messages
  })
})
afterEach(() => {
  visible.stop()
  vi.useRealTimers()
})

it('a message that arrives at its end is shown, and one that arrives after it is not', () => {
  vi.setSystemTime(endsAt)
  visible.put(message)
  expect(shown).toEqual([message])
  vi.setSystemTime(endsAt.getTime() + 1)
  visible.replace([message])
  expect(shown).toEqual([])
})

it('a message is shown up to its end and removed in the next millisecond, by the clock of the server', () => {
  vi.setSystemTime(endsAt.getTime() - 5000)
  visible.setClock(new Date(endsAt.getTime() - 1000).toISOString())
  visible.put(message)
  vi.advanceTimersByTime(1000)
  expect(shown).toEqual([message])
  vi.advanceTimersByTime(1)
  expect(shown).toEqual([])
})
