import type { NewSagaEvent } from '@switchyard/saga-store'
import { describe, expect, it } from 'vitest'
import { createRecorder, type Recorder, type WriteBatch } from './record.js'

const received = (id: string): NewSagaEvent => ({
  tenant: 't',
  event: { operation: 'SagaStarted', sagaId: id, serviceName: 'booking', addTime: null },
  receivedAt: new Date(0),
  eventId: null,
  eventTime: null,
  contentKey: new Uint8Array(8),
  request: new Uint8Array(200),
})

/** Creates a database that writes each batch when the test releases the batch. */
function slowDatabase() {
  const batches: { ids: string[]; finish: () => void }[] = []
  const writeBatch: WriteBatch = (events) =>
    new Promise((resolve) => {
      const ids = events.map(({ event }) => ('sagaId' in event ? `${event.sagaId}` : ''))
      batches.push({ ids, finish: () => resolve(events.map(() => 'recorded')) })
    })
  return { batches, writeBatch }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const limits = { eventsMax: 2000, bytesMax: 1 << 24 }

/** Returns the outcome of one event. */
const recordOne = async (ingest: Recorder, id: string, givenUp?: () => boolean) =>
  (await ingest.record([received(id)], givenUp))[0]

function startIngest(transactionsMax: number, queue = limits) {
  const { batches, writeBatch } = slowDatabase()
  const ingest = createRecorder({ writeBatch, transactionsMax, queue })
  const record = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => recordOne(ingest, `${from + index}`))
  return { batches, ingest, record }
}

describe('parallel events', () => {
  it('are written by all transactions in parallel, each event once and in order', async () => {
    const { batches, record } = startIngest(2)
    const answers = record(0, 100)
    await turn()
    await turn()
    expect(batches.map(({ ids }) => ids.length)).toEqual([50, 50])
    expect(batches.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`))
    for (const { finish } of batches) finish()
    expect(await Promise.all(answers)).toEqual(answers.map(() => 'recorded'))
  })

  it('share one batch while they are few', async () => {
    const { batches, record } = startIngest(4)
    record(0, 30)
    await turn()
    await turn()
    expect(batches.map(({ ids }) => ids.length)).toEqual([30])
    record(30, 40)
    await turn()
    expect(batches).toHaveLength(1)
    batches[0]?.finish()
    await turn()
    expect(batches.map(({ ids }) => ids.length)).toEqual([30, 10])
  })

  it('are never more than 1000 in a batch', async () => {
    const { batches, record } = startIngest(1)
    record(0, 1200)
    await turn()
    for (let index = 0; index < 2; index += 1) {
      batches[index]?.finish()
      await turn()
    }
    expect(batches.map(({ ids }) => ids.length)).toEqual([1000, 200])
  })
})

describe('the events of one call', () => {
  it('are written in one transaction, in order, and answered with one outcome each', async () => {
    const { batches, ingest, record } = startIngest(2)
    const single = record(0, 1)
    const events = Array.from({ length: 1000 }, (_, index) => received(`call-${index}`))
    const call = ingest.record(events)
    await turn()
    await turn()
    expect(batches.map(({ ids }) => ids.length)).toEqual([1, 1000])
    expect(batches[1]?.ids).toEqual(events.map((_, index) => `call-${index}`))
    for (const { finish } of batches) finish()
    expect(await call).toEqual(events.map(() => 'recorded'))
    expect(await Promise.all(single)).toEqual(['recorded'])
  })

  it('are not written when the call has ended before their turn', async () => {
    const { batches, ingest, record } = startIngest(1)
    record(0, 1)
    await turn()
    const call = ingest.record([received('late-0'), received('late-1')], () => true)
    batches[0]?.finish()
    await expect(call).rejects.toMatchObject({ kind: 'unavailable' })
    expect(batches).toHaveLength(1)
  })
})

it("events beyond the queue's limits of number and bytes are refused, and more are accepted once there is room", async () => {
  for (const queue of [
    { eventsMax: 10, bytesMax: 1 << 24 },
    { eventsMax: 1000, bytesMax: 10 * 712 },
  ]) {
    const { batches, ingest, record } = startIngest(1, queue)
    record(0, 10)
    await expect(recordOne(ingest, 'too much')).rejects.toMatchObject({ kind: 'unavailable' })
    await turn()
    const later = recordOne(ingest, 'later')
    batches[0]?.finish()
    await turn()
    batches[1]?.finish()
    expect(await later).toBe('recorded')
  }
})

it('events for which no caller waits any more are not written', async () => {
  const { batches, ingest } = startIngest(1)
  const left = recordOne(ingest, 'left', () => true)
  const waits = recordOne(ingest, 'waits', () => false)
  await expect(left).rejects.toMatchObject({ kind: 'unavailable' })
  expect(batches.map(({ ids }) => ids)).toEqual([['waits']])
  batches[0]?.finish()
  expect(await waits).toBe('recorded')
})

it('closing answers all accepted events, and accepts no further ones', async () => {
  const { batches, ingest, record } = startIngest(1)
  const [answer] = record(0, 1)
  await turn()
  let closed = false
  const closing = ingest.close().then(() => {
    closed = true
  })
  await expect(recordOne(ingest, 'late')).rejects.toMatchObject({ kind: 'unavailable' })
  await turn()
  expect(closed).toBe(false)
  batches[0]?.finish()
  await closing
  expect(await answer).toBe('recorded')
})
