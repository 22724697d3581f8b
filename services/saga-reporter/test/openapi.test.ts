import { openDocumentedApi } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportAll } from './grpc-client.js'
import { createTokens, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let api: Awaited<ReturnType<typeof openDocumentedApi>>

beforeAll(async () => {
  harness = await startHarness({ WEBHOOK_ALLOWED_HOSTS: 'hooks.internal' })
  tokens = await createTokens(harness.database)
  api = await openDocumentedApi(harness.baseUrl, tokens.administrator)
  const sagaId = 'order/1'
  await reportAll(harness.grpc, [
    ['SagaStarted', { sagaId, serviceName: 'booking' }],
    ['ActivityExecuteStarted', { sagaId, activityId: 'a', order: 0, parameterData: Buffer.from('{"n":1}') }],
    ['ActivityEnded', { activityId: 'a', resultData: Buffer.from([0xff, 0xfe]) }],
    ['ActivityCompensateAborted', { sagaId, activityId: 'a', errors: 'cannot undo' }],
    ['ActivityRevoked', { activityId: 'parked' }],
    ['SagaStarted', { sagaId: 'order/2', serviceName: 'booking' }],
    ['SagaEnded', { sagaId: 'order/2' }],
  ])
})
afterAll(() => harness?.close())

async function callWebhooks() {
  const base = '/sagas/webhooks'
  const given = { url: 'https://hooks.internal/a', secret: 'whsec-0123456789abcdef', events: ['saga.error'] }
  const created = await api.call(`POST ${base}`, { body: given })
  const path = { id: (created.body as { id: number }).id }
  await api.call(`GET ${base}`)
  await api.call(`POST ${base}/preview`, { body: { event: 'saga.error', message_format: 'slack' } })
  await api.call(`GET ${base}/{id}`, { path })
  await api.call(`PUT ${base}/{id}`, { path, body: { service_name: 'booking' } })
  const test = await api.call(`POST ${base}/{id}/test`, { path })
  const delivery = { ...path, delivery_id: (test.body as { id: string }).id }
  await api.call(`GET ${base}/{id}/deliveries`, { path })
  await api.call(`GET ${base}/{id}/deliveries/{delivery_id}`, { path: delivery })
  await api.call(`POST ${base}/{id}/deliveries/{delivery_id}/redeliver`, { path: delivery })
  await api.call(`DELETE ${base}/{id}`, { path })
}

async function callBulk() {
  const filter = { service_name: 'booking', status: 'Error' }
  await api.call('POST /sagas/bulk/preview', { body: { filter } })
  const created = await api.call('POST /sagas/bulk', { body: { action: 'resolve', note: 'Paid', filter } })
  const path = { id: (created.body as { id: number }).id }
  await expect
    .poll(async () => (await api.call('GET /sagas/bulk/{id}', { path })).body)
    .toMatchObject({ state: 'finished', done: 1 })
  await api.call('GET /sagas/bulk')
  await api.call('GET /sagas/bulk/{id}/results', { path })
  await api.call('POST /sagas/bulk/{id}/undo', { path })
  await expect
    .poll(async () => (await api.call('GET /sagas/bulk/{id}', { path })).body)
    .toMatchObject({ state: 'undone', undone: 1 })
  await harness.database.pool.query(
    `INSERT INTO saga_bulk_jobs (tenant, id, action, note, filter, author_id, author_name, audit_author,
       active_user_id, owner, owned_until)
     VALUES ('default', 1000000, 'note', 'x', '{}', 0, 'root', '{}', 0, 'elsewhere', now() + interval '1 hour')`,
  )
  await api.call('POST /sagas/bulk/{id}/cancel', { path: { id: 1_000_000 } })
}

async function callCommands() {
  const saga = { path: { id: 'order/3' } }
  const body = { kind: 'cancel', reason: 'The customer has called' }
  const filter = { service_name: 'booking', status: 'Error' }
  const preview = await api.call('POST /sagas/commands/preview', { body: { kind: 'cancel', filter } })
  const { matched } = preview.body as { matched: number }
  const batch = { kind: 'cancel', reason: 'x', filter, expected_count: matched }
  await api.call('POST /sagas/commands', { body: batch })
  const { id } = (await api.call('POST /sagas/{id}/commands', { ...saga, body })).body as { id: string }
  const path = { id }
  await api.call('GET /sagas/{id}/commands', saga)
  await api.call('GET /sagas/commands', { query: { state: 'pending' } })
  await api.call('GET /sagas/commands/{id}', { path })
  const becomes = (state: string) =>
    harness.database.pool.query('UPDATE saga_commands SET state = $2, author_id = 0 WHERE id = $1', [
      id,
      state,
    ])
  await becomes('waiting_for_approval')
  await api.call('POST /sagas/commands/{id}/approve', { path })
  await api.call('POST /sagas/commands/{id}/withdraw', { path })
  await harness.database.pool.query("UPDATE saga_commands SET due_at = now() + interval '1 h'")
  await becomes('waiting_for_approval')
  await api.call('POST /sagas/commands/{id}/deny', { path })
  await becomes('unknown')
  await api.call('POST /sagas/commands/{id}/deliver_again', { path })
  for (const decision of ['approve', 'deny', 'withdraw'] as const) {
    await becomes('waiting_for_approval')
    await harness.database.pool.query(
      "UPDATE saga_commands SET batch_id = id, ended_at = NULL, due_at = now() + interval '1 h' WHERE id = $1",
      [id],
    )
    await api.call(`POST /sagas/commands/batches/{batch_id}/${decision}`, { path: { batch_id: id } })
  }
}

it('every operation answers as documented', async () => {
  const path = { id: 'order/1' }
  const listed = await api.call('GET /sagas', { query: { per_page: '1', with_counts: 'true' } })
  expect(listed.body).toHaveLength(1)
  expect(listed.headers.get('X-Next-Cursor')).toBeTruthy()
  await api.call('GET /sagas/parked_activities')
  await api.call('GET /sagas/stats')
  await api.call('GET /sagas/failure_history', { query: { bucket_seconds: '3600' } })
  await api.call('GET /sagas/export', { query: { format: 'csv' } })
  await api.call('GET /sagas/export', { query: { format: 'ndjson' } })
  await api.call('GET /sagas/stream', { query: { last_event_id: '0' } })
  await api.call('GET /sagas/{id}/events', { path })
  const payloads = 'GET /sagas/{id}/activities/{activity_id}/payloads/{kind}'
  await api.call(payloads, { path: { ...path, activity_id: 'a', kind: 'parameter' } })
  await api.call(payloads, { path: { ...path, activity_id: 'a', kind: 'result' } })
  await callBulk()
  await api.call('POST /sagas/{id}/notes', { path, body: { body: 'Called them' } })
  await api.call('POST /sagas/{id}/resolve', { path, body: { note: 'Refunded by hand' } })
  expect(await api.call('GET /sagas/{id}', { path })).toMatchObject({
    body: { activities: [{ parameter: { encoding: 'json' } }], notes: [{ body: 'Called them' }] },
  })
  const events = [{ operation: 'SagaStarted', saga_id: 'order/3', service_name: 'booking' }]
  expect(await api.call('POST /saga_events', { body: { events } })).toMatchObject({
    body: { results: [{ outcome: 'recorded' }] },
  })
  await callCommands()
  await callWebhooks()
  expect(api.uncalled()).toEqual([])
})

it('refusals match the documentation', async () => {
  const path = { id: 'order/2' }
  const answers = [
    await api.call('GET /sagas', { query: { page: '2' } }),
    await api.call('GET /sagas', { query: { status: 'Lost' } }),
    await api.call('GET /sagas', { token: null }),
    await api.call('GET /sagas', { token: tokens.user }),
    await api.call('POST /sagas/{id}/notes', { path, token: tokens.reader, body: { body: 'x' } }),
    await api.call('GET /sagas/{id}', { path: { id: 'nobody' } }),
    await api.call('POST /saga_events', { body: { events: [] } }),
    await api.call('POST /saga_events', { token: tokens.reader, body: { events: [{}] } }),
    await api.call('POST /sagas/webhooks', { body: { url: 'ftp://x', secret: 'x', events: [] } }),
    await api.call('POST /sagas/bulk', { body: { action: 'note', note: 'x', filter: {} } }),
    await api.call('POST /sagas/bulk', {
      body: { action: 'note', note: 'x', filter: { status: 'Error' }, expected_count: 7 },
    }),
    await api.call('GET /sagas/bulk/{id}', { path: { id: '9999' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([
    400, 400, 401, 403, 403, 404, 400, 403, 400, 400, 409, 404,
  ])
})
