import { expect, it, vi } from 'vitest'
import { remembered } from './remembered.js'

it('asks once for all callers', async () => {
  const ask = vi.fn(async () => 'answer')
  const get = remembered(ask)
  expect(await Promise.all([get(), get()])).toEqual(['answer', 'answer'])
  expect(await get()).toBe('answer')
  expect(ask).toHaveBeenCalledTimes(1)
})

it('asks again after a failure', async () => {
  const ask = vi.fn(async () => 'answer').mockRejectedValueOnce(new Error('too many open files'))
  const get = remembered(ask)
  await expect(get()).rejects.toThrow('too many open files')
  expect(await get()).toBe('answer')
})

it('asks again once the time of an answer is over', async () => {
  const ask = vi.fn(async () => 'answer')
  const get = remembered(ask, 0)
  await get()
  await get()
  expect(ask).toHaveBeenCalledTimes(2)
})
