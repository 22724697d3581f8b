import { afterAll, beforeAll, expect, it } from 'vitest'
import { deriveFromLog, readLog } from './event-log.js'
import type { Fields, Operation } from './grpc-client.js'
import { startHarness, startService } from './harness.js'

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

// The first one: what rows of others leave free would otherwise be filled here and there.
it('loses no update and changes no other row when rows have moved since an instance saw them', async () => {
  const metadata = { 'x-tenant': 'moved' }
  const { pool } = harness.database
  const sagas = Array.from({ length: 30 }, (_, index) => `moved-${index}`)
  const reportOf = (grpc: typeof harness.grpc, step: (sagaId: string) => [Operation, Fields]) =>
    Promise.all(sagas.map((sagaId) => grpc.report(...step(sagaId), { metadata })))
  const activities = async () => {
    const { rows } = await pool.query<{ id: string; place: string }>(
      'SELECT id, ctid::text AS place FROM saga_activities',
    )
    return new Map(rows.map(({ id, place }) => [place, id]))
  }

  await reportOf(harness.grpc, (sagaId) => ['SagaStarted', { sagaId, serviceName: 'booking' }])
  await reportOf(harness.grpc, (sagaId) => [
    'ActivityExecuteStarted',
    { sagaId, activityId: `a-${sagaId}`, parameterData: Buffer.from(sagaId) },
  ])
  const before = await activities()
  // Written once more from the first place on, the last row first. A VACUUM FULL moves rows as well, but how
  // many and when depends on who else still sees what.
  for (const table of ['sagas', 'saga_activities']) {
    await pool.query(`
      BEGIN;
      CREATE TEMPORARY TABLE moved ON COMMIT DROP AS SELECT * FROM ${table} ORDER BY ctid DESC;
      TRUNCATE ${table};
      INSERT INTO ${table} SELECT * FROM moved;
      COMMIT`)
  }
  const after = await activities()
  const takenOver = [...before].filter(([place, id]) => after.has(place) && after.get(place) !== id)
  expect(takenOver.length).toBeGreaterThan(10)

  const steps: ((sagaId: string) => [Operation, Fields])[] = [
    (sagaId) => ['ActivityEnded', { activityId: `a-${sagaId}`, resultData: Buffer.from(sagaId) }],
    (sagaId) => ['ActivityCompensated', { activityId: `a-${sagaId}` }],
    (sagaId) => ['SagaEnded', { sagaId }],
  ]
  for (const [index, step] of steps.entries()) {
    const answers = await reportOf(index === 1 ? second.grpc : harness.grpc, step)
    expect(answers.map(({ message }) => message)).toEqual(sagas.map(() => 'recorded'))
    // A plain one lets rows be overwritten; what was there is another version from then on.
    await pool.query('VACUUM saga_activities')
  }
  const { stored, derived } = await deriveFromLog(harness.database, 'moved')
  expect(stored).toEqual(derived)
  expect(new Set(stored.sagas.map(({ outcome }) => outcome))).toEqual(new Set(['compensated']))
  expect(await readLog(harness.database, 'moved')).toHaveLength(sagas.length * 5)
})

/** The events of a saga with activities of which some name it only once; all of them end Compensated. */
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

it('loses no update when two instances get hundreds of calls about a few sagas at once', async () => {
  const events = ['x', 'y', 'z'].flatMap((sagaId) => eventsOf(sagaId, 12))
  // Twice, each half shuffled its own way, so that equal events meet on different instances.
  const calls = [...events, ...events]
    .map((event, index) => ({ event, place: (index * 7919) % 1009 }))
    .sort((a, b) => a.place - b.place)
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

it('stores an event once when its id is sent many times at once', async () => {
  const metadata = { 'x-tenant': 'ids', 'x-event-id': 'once' }
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? harness : second).grpc.report(
        'ActivityRetried',
        // Without the id every one of these would count: they differ, and each is newer than the one before.
        { activityId: `a-${index}`, retries: index },
        { metadata },
      ),
    ),
  )
  const messages = answers.map(({ message }) => message).sort()
  expect(messages).toEqual([...Array.from({ length: 29 }, () => 'duplicate'), 'parked'])
  expect(await readLog(harness.database, 'ids')).toHaveLength(1)
})

it('keeps tenants apart', async () => {
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
