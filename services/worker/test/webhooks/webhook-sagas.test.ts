import { createToken, createUser } from '@switchyard/testing'
import { enqueueDeliveries } from '@switchyard/webhooks'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { followFinishedSagas, followFlags } from '../../src/webhooks/saga-events.js'
import { startHarness } from '../harness.js'
import { ago, compensated, ended, executed, executing, givenUp, report, started } from '../saga-events.js'
import { startReporterProcess } from './reporter-process.js'
import { addWebhook, ok, startReceiver } from './webhook-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterEach(async () => {
  await harness.database.prisma.webhook.deleteMany()
})
afterAll(() => harness.close())

const options = () => ({
  database: harness.database,
  externalUrl: 'https://switchyard.example.com',
  signal: new AbortController().signal,
})
const follow = async () => (await followFlags(options())) + (await followFinishedSagas(options()))
const hook = (fields = {}) => addWebhook(harness.database, 'https://example.com/hook', fields)
const told = async (webhookId: number) => {
  const deliveries = await harness.database.prisma.webhookDelivery.findMany({ where: { webhookId } })
  return deliveries.map(({ event, payload }) => ({ ...JSON.parse(payload), event }))
}
const flag = (kind: string, sagaId: string, activityId = '', since = ago(60), tenant = 'default') =>
  harness.database.prisma.sagaFlag.upsert({
    where: { tenant_kind_sagaId_activityId: { tenant, kind, sagaId, activityId } },
    create: { tenant, kind, sagaId, activityId, since, firstSeenAt: ago(90) },
    update: { since, setAt: new Date() },
  })

it('webhooks receive sagas that ended, and none that continue', async () => {
  const { id } = await hook()
  await report(harness.database, [
    [started('e1'), 5],
    [executing('e1', 'e1-a'), 4],
    [executed('e1-a', 'e1'), 3],
    [ended('e1'), 2],
    [started('e2'), 1],
  ])
  expect(await follow()).toBe(1)
  expect(await told(id)).toEqual([
    {
      event: 'saga.ended',
      tenant: 'default',
      saga: {
        saga_id: 'e1',
        service_name: 'orders',
        status: 'Ended',
        outcome: 'succeeded',
        first_seen_at: expect.any(String),
        started_at: expect.any(String),
        ended_at: expect.any(String),
        resolved_at: null,
        last_event_at: expect.any(String),
        url: 'https://switchyard.example.com/api/v4/sagas/e1?tenant=default',
      },
      flag: null,
      activities: [],
    },
  ])
  expect(await follow()).toBe(0)
})

it('webhooks receive bodies in their chosen format', async () => {
  const { id } = await hook({ messageFormat: 'slack' })
  const { id: custom } = await hook({ bodyTemplate: '{"of": {{saga.saga_id}}}' })
  await report(harness.database, [
    [started('w1'), 5],
    [executing('w1', 'w1-a'), 4],
    [executed('w1-a', 'w1'), 3],
    [ended('w1'), 2],
  ])
  expect(await follow()).toBe(2)
  const link = '<https://switchyard.example.com/api/v4/sagas/w1?tenant=default|w1>'
  expect(await told(id)).toEqual([{ event: 'saga.ended', text: `saga.ended: saga ${link} of orders, Ended` }])
  expect(await told(custom)).toEqual([{ event: 'saga.ended', of: 'w1' }])
})

it('webhooks receive a failure with the errors of its activities, once, and the end when it was compensated after all', async () => {
  const { id } = await hook()
  await report(harness.database, [
    [started('f1'), 9],
    [executing('f1', 'f1-a'), 8],
    [{ ...givenUp('f1-a', 'f1'), errors: 'x'.repeat(5000) } as ReturnType<typeof givenUp>, 7],
  ])
  expect(await follow()).toBe(1)
  const [error] = await told(id)
  expect(error).toMatchObject({
    event: 'saga.error',
    saga: { saga_id: 'f1', status: 'Error', outcome: null },
    activities: [{ activity_id: 'f1-a', compensate_errors: 'x'.repeat(1000), execute_errors: null }],
  })
  await report(harness.database, [[ended('f1'), 6]])
  expect(await follow()).toBe(0)
  await report(harness.database, [[compensated('f1-a'), 5]])
  expect(await follow()).toBe(1)
  expect((await told(id)).map(({ event }) => event).toSorted()).toEqual(['saga.ended', 'saga.error'])
})

it('webhooks receive sagas that an operator resolved, and a later failure again', async () => {
  const { id } = await hook({ events: ['saga.error', 'saga.resolved'] })
  await report(harness.database, [
    [started('r1'), 9],
    [givenUp('r1-a', 'r1'), 8],
  ])
  await follow()
  // Sets the state of a saga after resolving, and after another failure.
  const resolve = (status: string, operation: string) =>
    harness.database.pool.query(
      `WITH saga AS (
         UPDATE sagas SET resolved_at = COALESCE(resolved_at, now()), status = '${status}' WHERE id = 'r1')
       INSERT INTO saga_events (tenant, operation, saga_id, content_key, result, request)
       VALUES ('default', '${operation}', 'r1', '\\x00', 'recorded', '\\x')`,
    )
  await resolve('Started', 'OperatorResolved')
  expect(await follow()).toBe(1)
  await resolve('Error', 'ActivityCompensateAborted')
  expect(await follow()).toBe(1)
  expect((await told(id)).map(({ event }) => event).toSorted()).toEqual([
    'saga.error',
    'saga.error',
    'saga.resolved',
  ])
})

it('webhooks receive only the events that they subscribe to, of their tenant and service', async () => {
  const { id: errors } = await hook({ events: ['saga.error'] })
  const { id: billing } = await hook({ serviceName: 'billing' })
  const { id: disabled } = await hook({ enabled: false })
  const end = (sagaId: string, service: string, tenant?: string) =>
    report(
      harness.database,
      [
        [started(sagaId, service), 3],
        [ended(sagaId), 2],
      ],
      tenant,
    )
  await end('g1', 'orders')
  await end('g2', 'billing')
  await end('g3', 'billing', 'north')
  expect(await follow()).toBe(1)
  expect(await told(errors)).toEqual([])
  expect(await told(disabled)).toEqual([])
  expect((await told(billing)).map(({ saga }) => saga.saga_id)).toEqual(['g2'])
})

it('webhooks receive no events from before they were created', async () => {
  await report(harness.database, [
    [started('h1'), 3],
    [ended('h1'), 2],
  ])
  await follow()
  const { id } = await hook()
  expect(await follow()).toBe(0)
  expect(await told(id)).toEqual([])
})

it('webhooks miss no event that commits after one with a later id', async () => {
  const { id } = await hook()
  const slow = await harness.database.pool.connect()
  try {
    await slow.query('BEGIN')
    await slow.query(
      `INSERT INTO saga_events (tenant, operation, saga_id, content_key, result, request)
       VALUES ('default', 'SagaEnded', 'i1', '\\x00', 'recorded', '\\x')`,
    )
    await harness.database.pool.query(
      `INSERT INTO sagas (tenant, id, status, outcome, first_seen_at, last_event_at, ended_at)
       VALUES ('default', 'i1', 'Ended', 'empty', now(), now(), now())`,
    )
    await report(harness.database, [
      [started('i2'), 3],
      [ended('i2'), 2],
    ])
    expect(await follow()).toBe(0)
  } finally {
    await slow.query('COMMIT')
    slow.release()
  }
  await follow()
  expect((await told(id)).map(({ saga }) => saga.saga_id).toSorted()).toEqual(['i1', 'i2'])
})

it('webhooks receive flags when they are set, and when they are set again', async () => {
  const { id } = await hook({ events: ['saga.overdue', 'saga.stuck', 'saga.parked'] })
  await report(harness.database, [[started('j1'), 500]])
  const since = ago(100)
  await flag('overdue', 'j1', 'j1-a', since)
  await flag('stuck', 'j1')
  await flag('settled', 'j1')
  await flag('parked', '', 'lost-activity')
  expect(await follow()).toBe(3)
  const deliveries = await told(id)
  expect(deliveries).toContainEqual(
    expect.objectContaining({
      event: 'saga.overdue',
      saga: expect.objectContaining({ saga_id: 'j1', status: 'Started' }),
      flag: { kind: 'overdue', activity_id: 'j1-a', since: since.toISOString() },
    }),
  )
  expect(deliveries).toContainEqual(
    expect.objectContaining({
      event: 'saga.parked',
      saga: null,
      flag: { kind: 'parked', activity_id: 'lost-activity', since: expect.any(String) },
    }),
  )
  expect(await follow()).toBe(0)
  await flag('stuck', 'j1', '', ago(10))
  expect(await follow()).toBe(1)
})

it('every event is stored once when two workers follow at the same time', async () => {
  const { id } = await hook()
  const sagas = Array.from({ length: 30 }, (_, index) => `k${index}`)
  for (const saga of sagas)
    await report(harness.database, [
      [started(saga), 3],
      [ended(saga), 2],
    ])
  await Promise.all([follow(), follow()])
  await follow()
  expect((await told(id)).map(({ saga }) => saga.saga_id).toSorted()).toEqual(sagas.toSorted())
})

it('webhooks receive events without a trigger, including resolutions over the API', async () => {
  const receiver = await startReceiver(ok)
  const { id } = await addWebhook(harness.database, receiver.url, {
    events: ['saga.error', 'saga.ended', 'saga.resolved'],
  })
  const worker = await harness.startWorker({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' })
  const reporter = await startReporterProcess(harness.reporterDatabaseUrl)
  const received = () => receiver.requests.map(({ body }) => JSON.parse(body))
  try {
    await report(harness.database, [
      [started('l1'), 3],
      [ended('l1'), 2],
      [started('l2'), 3],
      [givenUp('l2-a', 'l2'), 2],
    ])
    await expect.poll(() => received().length).toBe(2)
    const admin = await createUser(harness.database, { admin: true })
    const { secret } = await createToken(harness.database, admin)
    const resolved = await fetch(`${reporter.baseUrl}/api/v4/sagas/l2/resolve`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ note: 'refunded by hand' }),
    })
    expect(resolved.status).toBe(200)
    await expect.poll(() => received().length).toBe(3)
    const summaries = received().map(({ event, saga }) => [event, saga.saga_id, saga.status, saga.url])
    expect(summaries.slice(0, 2).toSorted()).toEqual([
      ['saga.ended', 'l1', 'Ended', null],
      ['saga.error', 'l2', 'Error', null],
    ])
    expect(summaries[2]).toEqual(['saga.resolved', 'l2', 'Started', null])
    expect(received()[2].saga.resolved_at).toEqual(expect.any(String))
    const delivered = () => harness.database.prisma.webhookDelivery.findMany({ where: { webhookId: id } })
    await expect
      .poll(async () => (await delivered()).map(({ state }) => state))
      .toEqual(['succeeded', 'succeeded', 'succeeded'])
  } finally {
    await reporter.close()
    await worker.close()
    receiver.close()
  }
})

it('thousands of deliveries can be stored in one statement', async () => {
  const { id } = await hook({ enabled: false })
  const deliveries = Array.from({ length: 3000 }, (_, index) => ({
    webhookId: id,
    event: 'test',
    dedupeKey: `many-${index}`,
    payload: '{}',
  }))
  expect(await enqueueDeliveries(harness.database.pool, deliveries)).toHaveLength(3000)
})
