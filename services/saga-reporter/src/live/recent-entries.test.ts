import { expect, it } from 'vitest'
import { RecentEntries } from './recent-entries.js'
import type { LogEntry } from './store.js'

const entry = (sequence: number) => ({ sequence }) as LogEntry
const positions = (entries: LogEntry[]) => entries.map(({ sequence }) => sequence)

it('recent entries are returned after a position, with the position up to which they are complete', () => {
  const recent = new RecentEntries(10)
  recent.restart(5)
  recent.append([entry(6), entry(8)], 9)
  recent.append([entry(12)], 12)
  const after = (position: number, take: number) => {
    const page = recent.after(position, take)
    return [positions(page.entries), page.readTo]
  }
  expect(after(5, 10)).toEqual([[6, 8, 12], 12])
  expect(after(6, 10)).toEqual([[8, 12], 12])
  expect(after(7, 1)).toEqual([[8], 8])
  expect(after(9, 10)).toEqual([[12], 12])
  expect(after(12, 10)).toEqual([[], 12])
})

it('the oldest entries are dropped, and the floor is the position after which none is missing', () => {
  const recent = new RecentEntries(4)
  recent.restart(0)
  for (let n = 1; n <= 20; n += 1) recent.append([entry(n * 2)], n * 2)
  expect(recent.position).toBe(40)
  const { entries } = recent.after(recent.floor, 100)
  expect(positions(entries)[0]).toBe(recent.floor + 2)
  expect(entries.length).toBeGreaterThanOrEqual(4)
  expect(entries.length).toBeLessThan(8)
})
