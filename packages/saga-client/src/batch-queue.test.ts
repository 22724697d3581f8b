import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BatchLimits, BatchQueue } from './batch-queue.js'

const limits: BatchLimits = {
  itemsMax: 1000,
  concurrencyMax: 1,
  delayMs: 60_000,
  batchBytesMax: 1000,
  batchItemsMax: () => 100,
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

interface Item {
  key: string
  index: number
  bytes: number
}

/** Starts a queue whose batches end when the test ends them. */
function startQueue(given: Partial<BatchLimits> = {}) {
  const batches: { items: Item[]; finish: () => void }[] = []
  const queue = new BatchQueue<Item>(
    { ...limits, ...given },
    (items) => new Promise((finish) => batches.push({ items, finish })),
  )
  let index = 0
  const add = (key: string, bytes = 10) => queue.add(key, { key, bytes, index: index++ })
  const sent = () => batches.map(({ items }) => items.map((item) => item.index))
  return { queue, batches, add, sent }
}

it('processes every item once, the items of a key in their order and in one batch at a time, within its limits', async () => {
  const items = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.integer({ min: 1, max: 60 }) }),
  )
  const bounds = fc.record({
    concurrencyMax: fc.integer({ min: 1, max: 4 }),
    itemsOfBatch: fc.integer({ min: 1, max: 5 }),
    delayMs: fc.constantFrom(0, 1),
  })
  await fc.assert(
    fc.asyncProperty(items, bounds, async (all, { concurrencyMax, itemsOfBatch, delayMs }) => {
      const done: Record<string, number[]> = {}
      const running = new Map<string, number>()
      let batches = 0
      const queue = new BatchQueue<Item>(
        { ...limits, concurrencyMax, delayMs, batchBytesMax: 50, batchItemsMax: () => itemsOfBatch },
        async (batch) => {
          batches += 1
          expect(batches).toBeLessThanOrEqual(concurrencyMax)
          expect(batch.length).toBeLessThanOrEqual(itemsOfBatch)
          const bytes = batch.reduce((sum, item) => sum + item.bytes, 0)
          expect(batch.length === 1 || bytes <= 50).toBe(true)
          for (const key of new Set(batch.map((item) => item.key))) {
            expect(running.get(key) ?? 0).toBe(0)
            running.set(key, 1)
          }
          await turn()
          for (const { key, index } of batch) {
            running.set(key, 0)
            done[key] = [...(done[key] ?? []), index]
          }
          batches -= 1
        },
      )
      for (const [index, item] of all.entries()) {
        expect(queue.add(item.key, { ...item, index })).toBe(true)
        if (index % 3 === 0) await turn()
      }
      while (queue.size > 0) await turn()
      for (const key of ['a', 'b', 'c', 'd']) {
        const expected = [...all.entries()].filter(([, item]) => item.key === key).map(([index]) => index)
        expect(done[key] ?? []).toEqual(expected)
      }
    }),
  )
})

describe('a batch leaves', () => {
  it('when it reaches its limit of items or bytes', () => {
    const byItems = startQueue({ batchItemsMax: () => 3 })
    for (const key of ['a', 'a', 'b', 'c']) byItems.add(key)
    expect(byItems.sent()).toEqual([[0, 1, 2]])
    const byBytes = startQueue()
    for (const key of ['a', 'b', 'c']) byBytes.add(key, 400)
    expect(byBytes.sent()).toEqual([[0, 1]])
  })

  it('when its first item has waited long enough', async () => {
    const { add, sent } = startQueue({ delayMs: 5 })
    add('a')
    add('b')
    expect(sent()).toEqual([])
    while (sent().length === 0) await turn()
    expect(sent()).toEqual([[0, 1]])
  })

  it('at once when the queue hurries, and so do later batches until the queue is empty', async () => {
    const { queue, batches, add, sent } = startQueue()
    add('a')
    queue.hurry()
    add('a')
    batches[0]?.finish()
    await turn()
    expect(sent()).toEqual([[0], [1]])
    batches[1]?.finish()
    await turn()
    add('a')
    expect(sent()).toHaveLength(2)
  })

  it('with a single item that is larger than a batch', () => {
    const { add, sent } = startQueue()
    add('a', 5000)
    expect(sent()).toEqual([[0]])
  })
})

it('refuses items beyond its limit, and accepts items again when there is room', async () => {
  const { queue, batches, add } = startQueue({ itemsMax: 2, batchItemsMax: () => 1 })
  expect([add('a'), add('a'), add('b')]).toEqual([true, true, false])
  expect(queue.size).toBe(2)
  batches[0]?.finish()
  await turn()
  expect(add('b')).toBe(true)
})
