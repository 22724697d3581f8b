import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deliverablePrefix } from './feed.js'
import type { LogEntry } from './store.js'

const entriesAt = (positions: number[]) => positions.map((sequence) => ({ sequence }) as LogEntry)
const prefix = (positions: number[], after: number, completeTo: number, isAll = true) => {
  const { ready, position } = deliverablePrefix(entriesAt(positions), { after, completeTo, isAll })
  return { ready: ready.map(({ sequence }) => sequence), position }
}

it('entries behind a gap are held back while it may still be filled', () => {
  expect(prefix([11, 12, 14, 15], 10, 0)).toEqual({ ready: [11, 12], position: 12 })
  expect(prefix([12], 10, 0)).toEqual({ ready: [], position: 10 })
})

it('a permanent gap is passed, and no gap after it', () => {
  expect(prefix([12, 13, 15], 10, 13)).toEqual({ ready: [12, 13], position: 13 })
  expect(prefix([12, 15], 10, 13)).toEqual({ ready: [12], position: 13 })
  expect(prefix([12, 15], 10, 14)).toEqual({ ready: [12, 15], position: 15 })
})

it('positions without entries are passed only when no more entries can appear before them', () => {
  expect(prefix([], 10, 13)).toEqual({ ready: [], position: 13 })
  expect(prefix([11], 10, 13, false)).toEqual({ ready: [11], position: 11 })
})

it('every entry is delivered once and in order, in whatever order entries become visible', () => {
  const commits = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 40 })
  fc.assert(
    fc.property(commits, fc.integer({ min: 1, max: 5 }), (order, step) => {
      const given: number[] = []
      let position = 0
      const look = (visible: number[], completeTo: number) => {
        const entries = visible.filter((n) => n > position).sort((a, b) => a - b)
        const found = deliverablePrefix(entriesAt(entries), { after: position, completeTo, isAll: true })
        given.push(...found.ready.map(({ sequence }) => sequence))
        position = found.position
      }
      for (let count = 0; count < order.length; count += step) look(order.slice(0, count), 0)
      look(order, 40)
      expect(given).toEqual([...order].sort((a, b) => a - b))
      expect(position).toBe(40)
    }),
  )
})
