import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OrderedQueue } from './ordered-queue.js'

it('works on the items of a key in their order and never on two at once, within its concurrency', async () => {
  const items = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.integer({ min: 0, max: 5 }) }),
  )
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 4 }), async (all, concurrencyMax) => {
      const done: Record<string, number[]> = {}
      const running = new Set<string>()
      let runningMax = 0
      const queue = new OrderedQueue<{ key: string; turns: number; index: number }>(
        { itemsMax: 1000, concurrencyMax },
        async ({ key, turns, index }) => {
          expect(running.has(key)).toBe(false)
          running.add(key)
          runningMax = Math.max(runningMax, running.size)
          for (let turn = 0; turn < turns; turn++) await Promise.resolve()
          running.delete(key)
          const ofKey = done[key] ?? []
          done[key] = [...ofKey, index]
        },
      )
      for (const [index, item] of all.entries()) expect(queue.add(item.key, { ...item, index })).toBe(true)
      while (queue.size > 0) await new Promise((resolve) => setImmediate(resolve))
      expect(runningMax).toBeLessThanOrEqual(concurrencyMax)
      for (const key of ['a', 'b', 'c']) {
        const expected = [...all.entries()].filter(([, item]) => item.key === key).map(([index]) => index)
        expect(done[key] ?? []).toEqual(expected)
      }
    }),
  )
})

it('takes no more than it holds, and takes again when there is room', async () => {
  let free: () => void = () => {}
  const queue = new OrderedQueue<number>(
    { itemsMax: 2, concurrencyMax: 1 },
    () =>
      new Promise((resolve) => {
        free = resolve
      }),
  )
  expect([queue.add('a', 1), queue.add('a', 2), queue.add('b', 3)]).toEqual([true, true, false])
  free()
  await new Promise((resolve) => setImmediate(resolve))
  expect(queue.add('b', 3)).toBe(true)
})
