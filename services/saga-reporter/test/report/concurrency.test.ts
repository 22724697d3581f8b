import { afterAll, beforeAll, expect, it } from 'vitest'
import { deriveFromLog, readLog } from '../event-log.js'
import type { Fields, Operation } from '../grpc-client.js'
import { startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let second: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  harness = await startHarness()
  second = await startService(harness.databaseUrl)
})
afterAll(async () => {
  await second.close()
  await harness.close()
})

/** Returns the events of a saga and its activities. Only the first event of an activity names the saga. */
function eventsOf(sagaId: string, activities: number): [Operation, Fields][] {
  const ids = Array.from({ length: activities }, (_, index) => `${sagaId}-${index}`)
  return [
    ['SagaStarted', { sagaId, serviceName: 'booking' }],
    ...ids.flatMap((activityId, order): [Operation, Fields][] => [
      ['ActivityExecuteStarted', { activityId, sagaId, order, parameterData: Buffer.from(activityId) }],
      ['ActivityEnded', { activityId, resultData: Buffer.from('done') }],
      ['ActivityCompensateAborted', { activityId, errors: 'try later' }],
      ['ActivityCompensated', { activityId }],
    ]),
    ['SagaEnded', { sagaId }],
  ]
}

it('two instances lose no update under hundreds of parallel calls about a few sagas', async () => {
  const events = ['x', 'y', 'z'].flatMap((sagaId) => eventsOf(sagaId, 12))
  // Each half is shuffled differently, so that equal events meet on different instances.
  const calls = [...events, ...events]
    .map((event, index) => ({ event, position: (index * 7919) % 1009 }))
    .sort((a, b) => a.position - b.position)
  const answers = await Promise.all(
    calls.map(({ event: [operation, fields] }, index) =>
      (index % 2 === 0 ? harness : second).grpc.report(operation, fields),
    ),
  )

  expect(answers.filter(({ isSuccess }) => !isSuccess)).toEqual([])
  expect(answers.filter(({ message }) => message === 'duplicate')).toHaveLength(events.length)
  expect(await readLog(harness.database)).toHaveLength(events.length)
  const { stored, derived } = await deriveFromLog(harness.database)
  expect(stored).toEqual(derived)
  expect(stored.sagas.map(({ id, status, outcome }) => [id, status, outcome])).toEqual([
    ['x', 'Ended', 'compensated'],
    ['y', 'Ended', 'compensated'],
    ['z', 'Ended', 'compensated'],
  ])
  expect(stored.activities).toHaveLength(36)
})

it('an event is stored once when its id is sent many times in parallel', async () => {
  const metadata = { 'x-tenant': 'ids', 'x-event-id': 'once' }
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? harness : second).grpc.report(
        'ActivityRetried',
        // Without the id, every one of these events would count, because each one differs from the previous
        // event and is newer.
        { activityId: `a-${index}`, retries: index },
        { metadata },
      ),
    ),
  )
  const messages = answers.map(({ message }) => message).sort()
  expect(messages).toEqual([...Array.from({ length: 29 }, () => 'duplicate'), 'parked'])
  expect(await readLog(harness.database, 'ids')).toHaveLength(1)
})

it('tenants are separate', async () => {
  const tenants = ['t1', 't2', 't3']
  await Promise.all(
    tenants.flatMap((tenant) =>
      ['SagaStarted', 'SagaEnded'].map((operation) =>
        harness.grpc.report(
          operation as Operation,
          { sagaId: 'same', serviceName: tenant },
          { metadata: { 'x-tenant': tenant } },
        ),
      ),
    ),
  )
  for (const tenant of tenants) {
    const { stored, derived } = await deriveFromLog(harness.database, tenant)
    expect(stored).toEqual(derived)
    expect(stored.sagas).toMatchObject([{ id: 'same', serviceName: tenant, status: 'Ended' }])
  }
})
