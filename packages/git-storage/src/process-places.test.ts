import { expect, test } from 'vitest'
import { withProcessPlace } from './process-places.js'

/** Work that runs until it is let go. */
function held() {
  const letGo: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => letGo.push(resolve))
  return { work, letGo }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function letAllGo(letGo: (() => void)[]): Promise<void> {
  for (; letGo.length > 0; await turn()) for (const resolve of letGo.splice(0)) resolve()
}

test('many questions about one repository leave processes for those about another', async () => {
  const busy = held()
  const waiting = Array.from({ length: 100 }, () => withProcessPlace('/busy', busy.work))
  await turn()
  expect(busy.letGo.length).toBeGreaterThan(0)
  expect(busy.letGo.length).toBeLessThan(100)
  expect(await withProcessPlace('/other', async () => 'answer')).toBe('answer')
  await letAllGo(busy.letGo)
  await Promise.all(waiting)
})

test('questions beyond a thousand that wait are refused, and those that wait are answered', async () => {
  const busy = held()
  const asked = Array.from({ length: 1_200 }, () => withProcessPlace('/full', busy.work))
  const settled = Promise.allSettled(asked)
  await turn()
  await letAllGo(busy.letGo)
  const refused = (await settled).filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(100)
  expect(refused.length).toBeLessThan(200)
  for (const result of refused) expect(result).toMatchObject({ reason: { kind: 'unavailable' } })
  expect(await withProcessPlace('/full', async () => 'answer')).toBe('answer')
})

test('work that fails gives its process back', async () => {
  for (let number = 0; number < 50; number += 1)
    await expect(withProcessPlace('/failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withProcessPlace('/failing', async () => 'answer')).toBe('answer')
})
