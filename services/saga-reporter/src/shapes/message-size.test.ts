import { Activity, Saga } from '@switchyard/contracts/saga-messages'
import { expect, it } from 'vitest'
import { bareBytesOf, fitActivities, fitSaga, fitSagas } from './message-size.js'

const withHeads = (...sizes: number[]): Activity[] =>
  sizes.map((size) => Activity.fromPartial({ parameter: { head: Buffer.alloc(size), size, sha256: '' } }))
const withErrors = (...errors: string[]): Activity[] =>
  errors.map((executeErrors) => Activity.fromPartial({ executeErrors }))

/** Returns the sizes of heads and the errors after they have been made to fit. */
function fitted(activities: Activity[], bytesMax: number) {
  fitActivities(activities, bytesMax)
  return activities.map(({ parameter, executeErrors }) => parameter?.head.length ?? executeErrors)
}

it('heads that fit are kept, and the others are cut to equal shares', () => {
  expect(fitted(withHeads(100, 50), 150)).toEqual([100, 50])
  expect(fitted(withHeads(100, 50, 10), 120)).toEqual([40, 40, 10])
})

it('errors that fit are kept, and the others are cut to equal shares, without half a character', () => {
  expect(fitted(withErrors('abc', 'def'), 6)).toEqual(['abc', 'def'])
  expect(fitted(withErrors('abcdef', 'aöü'), 6)).toEqual(['abc', 'aö'])
})

it('heads have what errors do not need, errors have what heads do not need, and otherwise each a half', () => {
  expect(fitted([...withHeads(100), ...withErrors('abcd')], 50)).toEqual([46, 'abcd'])
  expect(fitted([...withHeads(2), ...withErrors('abcdefghij')], 10)).toEqual([2, 'abcdefgh'])
  expect(fitted([...withHeads(100), ...withErrors('abcdefghij')], 10)).toEqual([5, 'abcde'])
})

it('a head that is cut keeps the size of its payload, so that a reader sees the cut', () => {
  const [activity] = withHeads(100)
  fitActivities(activity ? [activity] : [], 10)
  expect(activity?.parameter).toMatchObject({ head: Buffer.alloc(10), size: 100 })
})

it('heads that are cut do not keep their other bytes in memory', () => {
  const activities = withHeads(...Array.from({ length: 1000 }, () => 16_384))
  fitActivities(activities, 100_000)
  const buffers = new Set(activities.map(({ parameter }) => parameter?.head.buffer))
  const heldBytes = [...buffers].reduce((sum, buffer) => sum + (buffer?.byteLength ?? 0), 0)
  expect(heldBytes).toBeLessThan(400_000)
})

it('activities with fitted heads and errors have no more bytes than were counted', () => {
  const head = Buffer.alloc(16_384)
  const payload = { head, size: 99_999_999, sha256: 'f'.repeat(64) }
  const errors = { executeErrors: 'ö'.repeat(8000), compensateErrors: 'e'.repeat(16_000) }
  const activities = Array.from({ length: 100 }, () =>
    Activity.fromPartial({ activityId: 'a', parameter: { ...payload }, result: { ...payload }, ...errors }),
  )
  for (const bytesMax of [1_000_000, 10_000, 0]) {
    fitActivities(activities, bytesMax)
    // Each activity has a tag and a length in its message.
    const bytes = activities.reduce((sum, activity) => sum + Activity.encode(activity).finish().length + 5, 0)
    expect(bytes).toBeLessThanOrEqual(bareBytesOf(activities) + bytesMax)
  }
})

const since = new Date(0)
const flagOf = (kind: string, activityId?: string) => ({ kind, activityId, since })
const wide = Saga.fromPartial({
  sagaId: 'wide',
  tags: Array.from({ length: 500 }, (_, n) => `key=${n}`.padEnd(200, '-')),
  flags: [
    ...Array.from({ length: 500 }, (_, n) => flagOf('overdue', `${n}`.padEnd(128, '-'))),
    flagOf('stuck'),
  ],
})
const bytesOf = (saga: Saga) => Saga.encode(saga).finish().length

it('a saga that fits is kept, and otherwise has its first tags and flags, and all flags of its own', () => {
  expect(fitSaga(wide, bytesOf(wide) + 100)).toEqual(wide)
  const short = fitSaga(wide, 50_000)
  expect(bytesOf(short)).toBeLessThanOrEqual(50_000)
  expect(bytesOf(short)).toBeGreaterThan(35_000)
  expect(short.tags).toEqual(wide.tags.slice(0, short.tags.length))
  expect(short.flags).toEqual([wide.flags.at(-1), ...wide.flags.slice(0, short.flags.length - 1)])
})

it('of several sagas, only those with more than an equal share are cut', () => {
  const small = Saga.fromPartial({ sagaId: 'small', tags: ['a=b'], flags: [flagOf('overdue', 'a')] })
  const [first, second] = fitSagas([small, wide], 100_000)
  expect(first).toEqual(small)
  expect(bytesOf(second ?? wide)).toBeLessThanOrEqual(50_000)
  expect(fitSagas([small, wide], 1_000_000)).toEqual([small, wide])
})
