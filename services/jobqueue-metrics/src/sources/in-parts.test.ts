import { expect, test } from 'vitest'
import { inParts } from './in-parts.js'

test('answers follow the items, though later parts are answered first, and all parts are begun before', async () => {
  const begun: number[] = []
  const answers: (() => void)[] = []
  const all = inParts([1, 2, 3, 4, 5], 2, (part, start) => {
    begun.push(start)
    return new Promise<number[]>((resolve) => answers.unshift(() => resolve(part.map((item) => item * 10))))
  })
  await expect.poll(() => begun).toEqual([0, 2, 4])
  for (const answer of answers) answer()
  expect(await all).toEqual([10, 20, 30, 40, 50])
})

test('a part that fails is told of once all were begun', async () => {
  const begun: number[] = []
  const all = inParts([1, 2, 3], 1, async (part, start) => {
    begun.push(start)
    if (start === 0) throw new Error('away')
    return [...part]
  })
  await expect(all).rejects.toThrow('away')
  expect(begun).toEqual([0, 1, 2])
})
