import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { activeMessages, boundariesBetween, boundariesOf, broadcastChanges } from './schedule.js'

// A short range makes periods touch and overlap.
const instant = fc.integer({ min: 0, max: 40 }).map((ms) => new Date(ms))
const period = fc.record({ startsAt: instant, endsAt: instant })
const periods = fc
  .array(period, { maxLength: 6 })
  .map((list) => list.map((fields, index) => ({ ...fields, id: index + 1 })))
const idsAt = (messages: { id: number; startsAt: Date; endsAt: Date }[], at: Date) =>
  activeMessages(messages, at).map(({ id }) => id)

describe('the boundaries of messages', () => {
  it('are the start and the instant after the end; none when the end is before the start', () => {
    const [startsAt, endsAt] = [new Date(10), new Date(20)]
    expect(boundariesOf({ startsAt, endsAt })).toEqual([startsAt, new Date(21)])
    expect(boundariesOf({ startsAt: endsAt, endsAt: startsAt })).toEqual([])
  })

  it('are exactly the instants at which the active messages differ from the millisecond before', () => {
    fc.assert(
      fc.property(periods, (messages) => {
        const boundaries = boundariesBetween(messages, new Date(-1), new Date(100)).map((boundary) =>
          boundary.getTime(),
        )
        for (let ms = 0; ms <= 100; ms += 1) {
          const differs = String(idsAt(messages, new Date(ms - 1))) !== String(idsAt(messages, new Date(ms)))
          if (differs) expect(boundaries).toContain(ms)
        }
        for (const message of messages) {
          for (const boundary of boundariesOf(message)) {
            const before = new Date(boundary.getTime() - 1)
            expect(activeMessages([message], boundary)).not.toEqual(activeMessages([message], before))
          }
        }
      }),
    )
  })

  it('come once each, in order, after the first bound and up to the second', () => {
    fc.assert(
      fc.property(periods, instant, instant, (messages, since, until) => {
        const boundaries = boundariesBetween(messages, since, until).map((boundary) => boundary.getTime())
        expect(boundaries).toEqual([...new Set(boundaries)].sort((a, b) => a - b))
        for (const boundary of boundaries) {
          expect(boundary).toBeGreaterThan(since.getTime())
          expect(boundary).toBeLessThanOrEqual(until.getTime())
        }
      }),
    )
  })
})

describe('what changes for readers', () => {
  const message = fc.record({ id: fc.integer({ min: 1, max: 5 }), text: fc.constantFrom('a', 'b') })
  const board = fc.uniqueArray(message, { selector: ({ id }) => id, maxLength: 5 })

  it('leads from the shown messages to the active ones, and is empty when both are the same', () => {
    fc.assert(
      fc.property(board, board, (shown, active) => {
        const result = new Map(shown.map((item) => [item.id, item]))
        for (const { before, after } of broadcastChanges(shown, active)) {
          expect(before).not.toEqual(after)
          if (before) expect(result.get(before.id)).toEqual(before)
          if (after) result.set(after.id, after)
          else if (before) result.delete(before.id)
        }
        expect([...result.values()].sort((a, b) => a.id - b.id)).toEqual(
          active.toSorted((a, b) => a.id - b.id),
        )
        expect(broadcastChanges(active, active)).toEqual([])
      }),
    )
  })
})
