import { DomainError } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { Slots } from '../../slots.js'
import { openBodyMemory } from './body-memory.js'

const limits = { perSender: 100, total: 200, reservedShare: 0.25, reservedHeldMax: 10, waitMs: 50 }
const refusals = { sender: 'yours', everybody: 'all', retryAfterMs: 50 }
const memoryOf = (given = limits) => {
  const memory = new Slots(given, refusals)
  return { open: (sender: string) => openBodyMemory(memory, sender) }
}
const kindOf = (error: unknown) => (error instanceof DomainError ? error.kind : error)

describe('memory of bodies', () => {
  it('refuses a sender who holds too much for too long, and nobody else', async () => {
    const memory = memoryOf(limits)
    await memory.open('one').take(100)
    const second = memory.open('one')
    const refused = second.take(1).catch(kindOf)
    await memory.open('other').take(1)
    expect(await refused).toBe('rate-limited')
  })

  it('lets a waiting request continue as soon as there is memory', async () => {
    const memory = memoryOf({ ...limits, waitMs: 60_000 })
    const first = memory.open('one')
    await first.take(80)
    const waiting = memory.open('one').take(60)
    first.release()
    await waiting
  })

  it('keeps a reserve for senders that hold little', async () => {
    const memory = memoryOf(limits)
    await memory.open('one').take(100)
    await memory.open('two').take(50)
    expect(await memory.open('three').take(11).catch(kindOf)).toBe('unavailable')
    await memory.open('three').take(10)
  })

  it('gives back what is granted after the end of the request', async () => {
    const memory = memoryOf({ ...limits, waitMs: 60_000 })
    const ended = memory.open('one')
    await ended.take(60)
    const late = ended.take(50).catch((error: Error) => error.message)
    ended.release()
    expect(await late).toBe('the request has ended')
    await memory.open('one').take(100)
  })

  it('counts down to zero, even after refusals', async () => {
    const memory = memoryOf(limits)
    const requests = Array.from({ length: 20 }, () => memory.open('one'))
    const outcomes = await Promise.all(requests.map((request) => request.take(30).catch(kindOf)))
    expect(outcomes.filter((outcome) => outcome === 'rate-limited')).toHaveLength(17)
    for (const request of requests) request.release()
    await memory.open('one').take(100)
  })
})
