import { createDatabase, type Database } from '@switchyard/db'
import { contentHash } from '@switchyard/domain/saga'
import { createSagaEventStore, type NewSagaEvent } from '@switchyard/saga-store'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildSagas } from '../../src/rebuild/rebuild.js'
import { RebuildSession } from '../../src/rebuild/store.js'
import { sagaEventOf } from '../../src/report/report.js'
import { decoders } from '../../src/shapes/operations.js'
import { encode, type Fields, type Operation } from '../grpc-client.js'
import { randomCall } from '../random-calls.js'
import { runRebuild } from '../rebuild/saga-rebuild.js'

let testDatabase: TestDatabase
let writers: Database[]
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  writers = [1, 2].map(() =>
    createDatabase({ url: testDatabase.url, poolSizeMax: 5, applicationName: 'concurrent-writers-test' }),
  )
})
afterAll(async () => {
  for (const writer of writers) await writer.close()
  await testDatabase.close()
})

interface GivenEvent {
  call: [Operation, Fields]
  /** One of a few ids, so that they repeat. */
  eventId: string | null
  attempt: number | null
  tag: string | null
}

const givenEvent: fc.Arbitrary<GivenEvent> = fc.record({
  call: randomCall,
  eventId: fc.option(fc.integer({ min: 0, max: 20 }).map(String)),
  attempt: fc.option(fc.nat(2)),
  tag: fc.option(fc.constantFrom('region=eu', 'region=us')),
})

function received(tenant: string, { call, eventId, attempt, tag }: GivenEvent): NewSagaEvent {
  const [operation, fields] = call
  const request = encode(operation, fields)
  return {
    tenant,
    event: sagaEventOf(decoders[operation](request), null),
    receivedAt: new Date(),
    eventId,
    eventTime: null,
    contentKey: contentHash({ operation, request, eventSeq: null, attempt }),
    request,
    attempt,
    tags: tag === null ? [] : [tag],
  }
}

/** Returns the differences between the stored rows of a tenant and the rows that follow from its log. */
async function differencesOf(tenant: string): Promise<unknown[]> {
  const found: unknown[] = []
  const session = await RebuildSession.open(writers[0] as Database, tenant)
  await rebuildSagas({
    session,
    repair: false,
    onDifference: (difference) => found.push(difference),
    onRefused: (id) => found.push({ refused: id }),
  }).finally(() => session.close())
  return found
}

it('two parallel writers leave the rows that follow from the log, and answer each event once, in order', async () => {
  const stores = writers.map((writer) => createSagaEventStore(writer))
  let run = 0
  const batches = fc.array(fc.array(givenEvent, { minLength: 1, maxLength: 12 }), {
    minLength: 2,
    maxLength: 10,
  })
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      run += 1
      const tenant = `run-${run}`
      const results = await Promise.all(
        given.map((batch, index) => stores[index % 2]?.record(batch.map((event) => received(tenant, event)))),
      )
      expect(results.map((answers) => answers?.length)).toEqual(given.map((batch) => batch.length))
      expect(await differencesOf(tenant)).toEqual([])
      const { rows } = await (writers[0] as Database).pool.query<{ events: number; ids: number }>(
        `SELECT count(*)::int AS events, count(DISTINCT event_id)::int AS ids FROM saga_events
         WHERE tenant = $1 AND event_id IS NOT NULL`,
        [tenant],
      )
      // No caller's id is in the log twice.
      expect(rows[0]?.events).toBe(rows[0]?.ids)
    }),
    { numRuns: 25 },
  )
  const { code, lines } = await runRebuild(testDatabase.url, '--verify')
  expect(lines).toHaveLength(1)
  expect(code).toBe(0)
})

it('a call with a thousand events is stored like a single event', async () => {
  const tenant = 'thousand'
  const sagas = Array.from({ length: 125 }, (_, index) => `saga-${index}`)
  const calls = sagas.flatMap((sagaId): [Operation, Fields][] => [
    ['SagaStarted', { sagaId, serviceName: 'booking' }],
    ...[1, 2, 3].flatMap((order): [Operation, Fields][] => [
      ['ActivityExecuteStarted', { sagaId, activityId: `${sagaId}-${order}`, order }],
      ['ActivityEnded', { activityId: `${sagaId}-${order}`, resultData: Buffer.from('done') }],
    ]),
    ['SagaEnded', { sagaId }],
  ])
  const events = calls.map((call, index) => ({ call, eventId: `e-${index}`, attempt: null, tag: null }))
  const [store] = writers.map((writer) => createSagaEventStore(writer))
  const results = await store?.record(events.map((event) => received(tenant, event)))
  expect(results).toEqual(calls.map(() => 'recorded'))
  const again = await store?.record(events.map((event) => received(tenant, event)))
  expect(again).toEqual(calls.map(() => 'duplicate'))
  expect(await differencesOf(tenant)).toEqual([])
})
