import type { Saga } from '@switchyard/domain/saga'
import { expect, it } from 'vitest'
import { newActivityEntry, newSagaEntry, StateCache } from './state-cache.js'

const now = new Date('2026-01-01')
const sagaOf = (id: string, endedAt: Date | null) => ({ id, endedAt }) as Saga

function keepSaga(cache: StateCache, id: string, endedAt: Date | null) {
  const entry = newSagaEntry('t', id)
  entry.saga = sagaOf(id, endedAt)
  entry.facts?.set(`a-${id}`, {
    status: 'Executed',
    finalAbort: false,
    overtimeNamedSaga: false,
    givenUpAt: null,
  })
  cache.keepSaga(entry)
  cache.keepActivity(newActivityEntry('t', `a-${id}`))
  return entry
}

it('ended sagas go before open ones, oldest first, and their activities with them', () => {
  const cache = new StateCache(1 << 30)
  keepSaga(cache, 'open', null)
  for (let index = 0; index <= 30; index += 1) keepSaga(cache, `ended-${index}`, now)
  expect(cache.findSaga('t', 'ended-0')).toBeUndefined()
  expect(cache.findActivity('t', 'a-ended-0')).toBeUndefined()
  for (const id of ['open', 'ended-1', 'ended-30']) {
    expect(cache.findSaga('t', id)?.id).toBe(id)
    expect(cache.findActivity('t', `a-${id}`)?.id).toBe(`a-${id}`)
  }
})

it('a saga that ends is found, kept once and forgotten as before', () => {
  const cache = new StateCache(1 << 20)
  const entry = keepSaga(cache, 's', null)
  entry.saga = sagaOf('s', now)
  cache.keepSaga(entry)
  expect(cache.findSaga('t', 's')).toBe(entry)
  cache.forgetSaga(entry)
  expect(cache.findSaga('t', 's')).toBeUndefined()
})

it('ended sagas are bounded by bytes, too: many activities count', () => {
  const cache = new StateCache(1 << 20)
  const facts = { status: 'Executed', finalAbort: false, overtimeNamedSaga: false, givenUpAt: null } as const
  for (const id of ['first', 'last']) {
    const entry = keepSaga(cache, id, now)
    for (let index = 0; index < 600; index += 1) entry.facts?.set(`${id}-${index}`, facts)
    cache.keepSaga(entry)
  }
  expect(cache.findSaga('t', 'first')).toBeUndefined()
  expect(cache.findSaga('t', 'last')?.id).toBe('last')
})
