import { setTimeout as delay, setImmediate as nextTick } from 'node:timers/promises'
import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SlotLimits, Slots } from './slots.js'

const refusals = { sender: 'Too much of yours', everybody: 'too much', retryAfterMs: 1_000 }
const waiting = { waitMs: 60_000 }
const create = (limits: SlotLimits) => new Slots(limits, refusals)
const kindOrMessage = (error: unknown) =>
  error instanceof DomainError ? error.kind : error instanceof Error ? error.message : error
const kindOf = (error: unknown) => (error instanceof DomainError ? error.kind : error)

/** Sends claims of a sender one after the other, and returns the functions that give granted slots back. */
function claims(slots: Slots, sender: string, count: number, order: string[], group?: string) {
  const granted: (() => void)[] = []
  for (let number = 0; number < count; number += 1) {
    const claim = { sender, ...(group !== undefined && { group }) }
    slots.take(claim).then(
      (giveBack) => {
        order.push(sender)
        granted.push(giveBack)
      },
      () => {},
    )
  }
  return granted
}

describe('Slots', () => {
  it('leaves a reserved slot to a sender that holds none while another has filled its share', async () => {
    const slots = create({ total: 8, perSender: 8, reservedShare: 0.25, ...waiting })
    const order: string[] = []
    claims(slots, 'busy', 100, order)
    await nextTick()
    expect(order).toHaveLength(6)
    claims(slots, 'other', 1, order)
    await nextTick()
    expect(order.at(-1)).toBe('other')
    expect(slots.count()).toEqual({ held: 7, waiting: 94 })
  })

  it('passes a free slot to the sender that holds the fewest, and takes turns among equals', async () => {
    const slots = create({ total: 8, perSender: 8, ...waiting })
    const order: string[] = []
    const busy = claims(slots, 'busy', 50, order)
    await nextTick()
    claims(slots, 'one', 2, order)
    claims(slots, 'two', 2, order)
    order.length = 0
    for (let number = 0; number < 4; number += 1) {
      busy.shift()?.()
      await nextTick()
    }
    expect(order).toEqual(['one', 'two', 'one', 'two'])
  })

  it('serves a single sender up to its share, however many claims wait', async () => {
    const slots = create({ total: 10, perSender: 5, ...waiting })
    const order: string[] = []
    const granted = claims(slots, 'alone', 40, order)
    for (; order.length < 40; await nextTick()) {
      expect(slots.count().held).toBeLessThanOrEqual(5)
      for (const giveBack of granted.splice(0)) giveBack()
    }
    for (const giveBack of granted) giveBack()
    expect(slots.count()).toEqual({ held: 0, waiting: 0 })
  })

  it('limits a group, keeps slots in it for others, and serves claims for other groups meanwhile', async () => {
    const slots = create({ total: 100, perSender: 100, perGroup: 4, reservedShare: 0.25, ...waiting })
    const order: string[] = []
    claims(slots, 'busy', 10, order, 'repository')
    await nextTick()
    expect(order).toHaveLength(3)
    claims(slots, 'other', 1, order, 'repository')
    claims(slots, 'busy', 1, order, 'another repository')
    await nextTick()
    expect(order.slice(3)).toEqual(['other', 'busy'])
  })

  it('distinguishes a sender with its whole share from a lack of slots', async () => {
    const slots = create({ total: 4, perSender: 3, waitMs: 20 })
    claims(slots, 'busy', 3, [])
    expect(await slots.take({ sender: 'busy' }).catch(kindOf)).toBe('rate-limited')
    claims(slots, 'second', 1, [])
    expect(await slots.take({ sender: 'third' }).catch(kindOf)).toBe('unavailable')
    expect(slots.count()).toEqual({ held: 4, waiting: 0 })
  })

  it('distinguishes a sender that has filled a group from a sender that finds it full', async () => {
    const slots = create({ total: 100, perSender: 100, perGroup: 2, waitMs: 20 })
    claims(slots, 'busy', 2, [], 'repository')
    const ask = (sender: string) => slots.take({ sender, group: 'repository' }).catch(kindOf)
    expect(await Promise.all([ask('busy'), ask('other')])).toEqual(['rate-limited', 'unavailable'])
  })

  it('limits the number of waiting claims, of one sender and in all', async () => {
    const slots = create({ total: 1, perSender: 1, waitingMax: 3, waitingPerSenderMax: 2, ...waiting })
    claims(slots, 'busy', 3, [])
    await nextTick()
    expect(slots.count()).toEqual({ held: 1, waiting: 2 })
    expect(await slots.take({ sender: 'busy' }).catch(kindOf)).toBe('rate-limited')
    claims(slots, 'second', 1, [])
    await nextTick()
    expect(await slots.take({ sender: 'third' }).catch(kindOf)).toBe('unavailable')
  })

  it('forgets a claim whose caller goes away', async () => {
    const slots = create({ total: 1, perSender: 1, ...waiting })
    const giveBack = await slots.take({ sender: 'one' })
    const leaving = new AbortController()
    const left = slots.take({ sender: 'two' }, leaving.signal).catch((error: unknown) => error)
    leaving.abort('gone')
    expect(await left).toBe('gone')
    giveBack()
    giveBack()
    expect(slots.count()).toEqual({ held: 0, waiting: 0 })
  })

  it('serves a large claim even when small claims of busy senders keep coming', async () => {
    const slots = create({ total: 4, perSender: 4, ...waiting })
    const order: string[] = []
    const small = claims(slots, 'small', 20, order)
    await nextTick()
    let isServed = false
    const large = slots.take({ sender: 'large', size: 3 }).then((giveBack) => {
      isServed = true
      return giveBack
    })
    for (let number = 0; number < 3; number += 1) {
      small.shift()?.()
      await nextTick()
    }
    expect(isServed).toBe(true)
    ;(await large)()
  })

  it.each(['leaves', 'has waited for too long'])('serves the others when a large claim %s', async (how) => {
    const slots = create({ total: 10, perSender: 10, waitMs: how === 'leaves' ? 60_000 : 50 })
    await slots.take({ sender: 'one', size: 6 })
    await slots.take({ sender: 'two', size: 1 })
    const leaving = new AbortController()
    const large = slots.take({ sender: 'large', size: 5 }, leaving.signal).catch(kindOrMessage)
    await delay(25)
    const small = slots.take({ sender: 'two', size: 1 })
    if (how === 'leaves') leaving.abort('gone')
    expect(await large).toBe(how === 'leaves' ? 'gone' : 'unavailable')
    await small
    expect(slots.count()).toEqual({ held: 8, waiting: 0 })
  })

  it('serves a claim above the share of a sender when the sender holds nothing', async () => {
    const slots = create({ total: 10, perSender: 4, reservedShare: 0.25, ...waiting })
    const giveBack = await slots.take({ sender: 'one', size: 12 })
    expect(slots.count().held).toBe(12)
    giveBack()
    expect((await slots.take({ sender: 'one', size: 6 })) && slots.count().held).toBe(6)
  })

  it('serves thousands of senders one after the other, in the order in which they came', async () => {
    const slots = create({ total: 1, perSender: 1, ...waiting })
    const senders = Array.from({ length: 2_000 }, (_, number) => `sender ${number}`)
    const served: string[] = []
    await Promise.all(
      senders.map((sender) => slots.run({ sender }, undefined, async () => served.push(sender))),
    )
    expect(served).toEqual(senders)
  })

  it('takes slots at once only while no claim waits', async () => {
    const slots = create({ total: 2, perSender: 2, ...waiting })
    const giveBack = slots.tryTake({ sender: 'one' })
    const large = slots.take({ sender: 'two', size: 2 })
    expect(slots.tryTake({ sender: 'three' })).toBeNull()
    giveBack?.()
    const giveLargeBack = await large
    expect(slots.tryTake({ sender: 'three' })).toBeNull()
    giveLargeBack()
    expect(slots.tryTake({ sender: 'three' })).not.toBeNull()
    expect(slots.count()).toEqual({ held: 1, waiting: 0 })
  })

  it('waits without limit when asked to', async () => {
    const slots = create({ total: 1, perSender: 1, waitMs: Number.POSITIVE_INFINITY })
    const giveBack = await slots.take({ sender: 'one' })
    const other = slots.take({ sender: 'two' })
    expect(await Promise.race([other, delay(50, 'waits')])).toBe('waits')
    giveBack()
    await other
    expect(slots.count()).toEqual({ held: 1, waiting: 0 })
  })

  describe('with any claims, failures and aborts', () => {
    const sender = fc.constantFrom('one', 'two', 'three')
    const group = fc.constantFrom(undefined, 'left', 'right')
    const step = fc.record({
      sender,
      group,
      size: fc.integer({ min: 1, max: 3 }),
      fate: fc.constantFrom('ends', 'throws', 'leaves'),
      ticks: fc.nat({ max: 4 }),
    })
    const limits = {
      total: 6,
      perSender: 4,
      perGroup: 5,
      reservedShare: 0.25,
      reservedHeldMax: 1,
      waitMs: 60_000,
    }

    it.each([
      ['few may wait, and the others are refused', { waitingMax: 8, waitingPerSenderMax: 4 }, true],
      ['all may wait, and everybody who stays is served', { waitingMax: 40 }, false],
    ])('every limit holds and no slot is lost: %s', async (_who, waitingLimits, isRefused) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const slots = create({ ...limits, ...waitingLimits })
          const holding = new Map<string, number>()
          const check = () => {
            const { held, waiting } = slots.count()
            // A granted claim holds its slots a moment before its work begins.
            expect(held).toBeGreaterThanOrEqual([...holding.values()].reduce((sum, size) => sum + size, 0))
            expect(held).toBeLessThanOrEqual(limits.total)
            expect(waiting).toBeLessThanOrEqual(waitingLimits.waitingMax)
            for (const size of holding.values()) expect(size).toBeLessThanOrEqual(limits.perSender)
          }
          const outcomes = await Promise.all(
            steps.map(async ({ sender, group, size, fate, ticks }) => {
              const claim = { sender, size, ...(group !== undefined && { group }) }
              const leaving = new AbortController()
              if (fate === 'leaves') setImmediate(() => leaving.abort('left'))
              const work = async () => {
                holding.set(sender, (holding.get(sender) ?? 0) + size)
                check()
                try {
                  for (let tick = 0; tick < ticks; tick += 1) await nextTick()
                  if (fate === 'throws') throw new Error('failed')
                } finally {
                  holding.set(sender, (holding.get(sender) ?? 0) - size)
                }
              }
              return slots.run(claim, leaving.signal, work).then(() => 'ended', kindOrMessage)
            }),
          )
          expect(slots.count()).toEqual({ held: 0, waiting: 0 })
          for (const [index, outcome] of outcomes.entries()) {
            const refused = isRefused ? ['rate-limited', 'unavailable'] : []
            // Work that has begun continues when its caller leaves.
            const own = { ends: ['ended'], throws: ['failed'], leaves: ['left', 'ended'] }
            expect([...own[steps[index]?.fate ?? 'ends'], ...refused]).toContain(outcome)
          }
          // Senders that have gone are forgotten, so a sender gets its whole share again.
          const all = await slots.take({ sender: 'one', size: limits.perSender })
          all()
        }),
      )
    })
  })
})
