import { createHash } from 'node:crypto'
import { createDatabase, type Database } from '@switchyard/db'
import { type RawSagaEvent, SagaRejection, validateSagaEvent } from '@switchyard/domain/saga'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createSagaEventStore, type NewSagaEvent } from '../src/index.js'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
})
afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

const received = (raw: RawSagaEvent, given: Partial<NewSagaEvent> = {}): NewSagaEvent => {
  const request = Buffer.from(JSON.stringify(raw))
  return {
    tenant: 't',
    event: validateSagaEvent(raw),
    receivedAt: new Date('2026-01-02T03:04:05.678Z'),
    eventId: null,
    eventTime: null,
    contentKey: createHash('sha256').update(request).digest(),
    request,
    ...given,
  }
}

const execute = (activityId: string, sagaId: string): RawSagaEvent => ({
  operation: 'ActivityExecuteStarted',
  activityId,
  sagaId,
  timeOutSeconds: 0,
  order: 0,
  parameterData: Buffer.from('{}'),
  addTime: '',
})
const done = (activityId: string): RawSagaEvent => ({
  operation: 'ActivityEnded',
  activityId,
  sagaId: '',
  resultData: Buffer.from('ok'),
})
const start: RawSagaEvent = { operation: 'SagaStarted', sagaId: 's', serviceName: 'booking' }
const end: RawSagaEvent = { operation: 'SagaEnded', sagaId: 's', serviceName: '' }

it('records many events in one transaction, each as if it came after the one before', async () => {
  const results = await createSagaEventStore(database).record([
    received(done('a')),
    received(start, { eventId: 'e-1' }),
    received(execute('a', 's')),
    received(execute('a', 's')),
    received(execute('a', 'other')),
    received(end, { eventId: 'e-1' }),
    received(start, { tenant: 'other' }),
    received(end),
  ])
  expect(results.map((result) => (result instanceof SagaRejection ? result.code : result))).toEqual([
    'parked',
    'recorded',
    'late',
    'duplicate',
    'ACTIVITY_SAGA_MISMATCH',
    'duplicate',
    'recorded',
    'recorded',
  ])
  const log = await database.prisma.sagaEvent.findMany({ orderBy: { id: 'asc' } })
  expect(log.map(({ tenant, operation, sagaId }) => `${tenant} ${operation} ${sagaId}`)).toEqual([
    't ActivityEnded null',
    't SagaStarted s',
    't ActivityExecuteStarted s',
    'other SagaStarted s',
    't SagaEnded s',
  ])
  expect(await database.prisma.saga.findMany({ orderBy: { tenant: 'asc' } })).toMatchObject([
    { tenant: 'other', status: 'Started' },
    { tenant: 't', status: 'Ended', outcome: 'succeeded', endedAt: new Date('2026-01-02T03:04:05.678Z') },
  ])
})

it('finds the saga of an activity that an earlier call has named', async () => {
  expect(await createSagaEventStore(database).record([received(done('a')), received(done('b'))])).toEqual([
    'duplicate',
    'parked',
  ])
  const compensated: RawSagaEvent = { operation: 'ActivityCompensated', activityId: 'a' }
  expect(await createSagaEventStore(database).record([received(compensated)])).toEqual(['recorded'])
  const saga = await database.prisma.saga.findUniqueOrThrow({
    where: { tenant_id: { tenant: 't', id: 's' } },
  })
  expect(saga).toMatchObject({ outcome: 'compensated', late: true })
})

it('remembers the activities that were reported together with the start of their saga', async () => {
  const store = createSagaEventStore(database)
  const of = (raw: RawSagaEvent) => received(raw, { tenant: 'together' })
  await store.record([start, execute('a', 's'), done('a')].map(of))
  await store.record([of(end)])
  const [saga] = await database.prisma.saga.findMany({ where: { tenant: 'together' } })
  expect(saga).toMatchObject({ status: 'Ended', outcome: 'succeeded' })
})

it('recognizes an event of a release with shorter content keys by its id, and without an id by its rank', async () => {
  const store = createSagaEventStore(database)
  const inTenant = (raw: RawSagaEvent, given: Partial<NewSagaEvent> = {}) =>
    received(raw, { tenant: 'shorter', ...given })
  const aborted: RawSagaEvent = {
    operation: 'ActivityExecuteAborted',
    activityId: 'a',
    errors: 'no stock',
  }
  const first = [
    inTenant(start, { eventId: 'e-start' }),
    inTenant(execute('a', 's')),
    inTenant(aborted),
    inTenant(execute('b', 's'), { eventId: 'e-b' }),
  ]
  const eightBytes = (event: NewSagaEvent) => ({ ...event, contentKey: event.contentKey.subarray(0, 8) })
  expect(await store.record(first.map(eightBytes))).toEqual(['recorded', 'recorded', 'recorded', 'recorded'])
  const log = () => database.prisma.sagaEvent.count({ where: { tenant: 'shorter' } })
  const activity = () =>
    database.prisma.sagaActivity.findUniqueOrThrow({
      where: { tenant_id: { tenant: 'shorter', id: 'a' } },
      omit: { contentKeys: true },
    })
  const before = await activity()

  expect(await store.record(first)).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate'])
  // The two events without an id are in the log once more, as duplicates.
  expect(await log()).toBe(6)
  expect(await activity()).toEqual(before)
  expect(await store.record(first)).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate'])
  expect(await log()).toBe(6)
})

it('stores either all events or none', async () => {
  const count = await database.prisma.sagaEvent.count()
  // Text that PostgreSQL cannot store, which validation would have refused.
  const broken = received(done('c'), { eventId: 'nul\0' })
  await expect(createSagaEventStore(database).record([received(done('d')), broken])).rejects.toThrow(
    'invalid byte',
  )
  expect(await database.prisma.sagaEvent.count()).toBe(count)
  expect(await createSagaEventStore(database).record([received(done('d'))])).toEqual(['parked'])
})

it('does not deadlock when batches about the same sagas come in any order at once', async () => {
  const sagas = Array.from({ length: 8 }, (_, index) => `many-${index}`)
  const batch = (turn: number) =>
    sagas
      .map((_, index) => sagas[(index * 3 + turn) % sagas.length] as string)
      .flatMap((id) => [received(execute(`${id}-a${turn}`, id)), received(done(`${id}-a${(turn + 1) % 12}`))])
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, turn) => createSagaEventStore(database).record(batch(turn))),
  )
  expect(results.flat().filter((result) => result instanceof SagaRejection)).toEqual([])
  const activities = await database.prisma.sagaActivity.findMany({ where: { id: { startsWith: 'many-' } } })
  expect(activities).toHaveLength(96)
  expect(new Set(activities.map(({ status, sagaId }) => `${status} ${sagaId === null}`))).toEqual(
    new Set(['Executed false']),
  )
  const pending = await database.prisma.saga.findMany({ where: { id: { in: sagas } } })
  expect(pending.map(({ status }) => status)).toEqual(sagas.map(() => 'Pending'))
})

it('reads a few rows for an event that depends on all activities of its saga, however many they are', async () => {
  const store = createSagaEventStore(database)
  const of = { tenant: 'wide' }
  await store.record([received(start, of), received(execute('a', 's'), of), received(execute('b', 's'), of)])
  await database.pool.query(
    `INSERT INTO saga_activities (tenant, id, saga_id, status, final_abort, given_up_at, first_seen_at, last_event_at)
     SELECT 'wide', n::text, 's', CASE WHEN n % 2 = 0 THEN 'Compensated' ELSE 'CompensateAborted' END, n % 2 = 1,
       CASE WHEN n % 2 = 1 THEN '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second' END, now(), now()
     FROM generate_series(1, 1000) n`,
  )
  const client = await database.pool.connect()
  const query = vi.spyOn(Object.getPrototypeOf(client), 'query')
  client.release()
  const resolve = (receivedAt: string) =>
    received(
      { operation: 'OperatorResolved', sagaId: 's', author: 'root', note: '' },
      { ...of, eventId: receivedAt, receivedAt: new Date(receivedAt) },
    )
  const readSaga = async () =>
    (await database.pool.query("SELECT status, outcome FROM sagas WHERE tenant = 'wide' AND id = 's'"))
      .rows[0]
  await store.record([received(end, of), received(done('a'), of)])
  expect(await readSaga()).toEqual({ status: 'Error', outcome: null })
  await store.record([resolve('2026-01-01T00:16:38Z')])
  expect(await readSaga()).toEqual({ status: 'Error', outcome: null })
  await store.record([resolve('2026-01-01T00:16:39Z')])
  expect(await readSaga()).toEqual({ status: 'Ended', outcome: 'inconsistent' })
  const answers = await Promise.all(query.mock.results.map(({ value }) => value))
  query.mockRestore()
  expect(Math.max(...answers.map((answer) => answer?.rows?.length ?? 0))).toBeLessThan(10)
})
