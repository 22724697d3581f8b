import { EventOutcome, ReportEventsRequest, ReportEventsResponse } from '@switchyard/contracts/saga-ingest'
import { createSagaClient } from '@switchyard/saga-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bulkClient } from '../bulk/bulk-sagas.js'
import { createTokens, startHarness } from '../harness.js'
import { runRebuild } from '../rebuild/saga-rebuild.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let api: ReturnType<typeof bulkClient>

beforeAll(async () => {
  harness = await startHarness()
  api = bulkClient(harness, await createTokens(harness.database))
})
afterAll(() => harness?.close())

const parentOf = async (sagaId: string) => (await api.json(`sagas/${sagaId}`)).parent_saga_id
const named = (parent: string) => ({ metadata: { 'x-parent-saga-id': parent } })

describe('the parent of a saga', () => {
  it('is named by a single call, a batch, HTTP and the Node client, and is shown in both directions', async () => {
    const { grpc, grpcPort } = harness
    await grpc.report('SagaStarted', { sagaId: 'root', serviceName: 'booking' })
    await grpc.report('SagaStarted', { sagaId: 'by-call', serviceName: 'booking' }, named('root'))
    const event = { sagaStarted: { sagaId: 'by-batch', serviceName: 'booking' }, parentSagaId: 'root' }
    await grpc.unary(
      '/switchyard.sagas.v1.SagaIngest/ReportEvents',
      Buffer.from(ReportEventsRequest.encode(ReportEventsRequest.fromPartial({ events: [event] })).finish()),
    )
    const started = { operation: 'SagaStarted', service_name: 'booking', parent_saga_id: 'root' }
    await api.report([{ ...started, saga_id: 'by-http' }])
    const client = createSagaClient({ address: `127.0.0.1:${grpcPort}`, serviceName: 'booking' })
    await Promise.all([
      client.sagaStarted({ sagaId: 'by-client', parentSagaId: 'root' }),
      client.sagaStarted({ sagaId: 'by-client-batch', parentSagaId: 'root' }),
      client.sagaStarted({ sagaId: 'unrelated' }),
    ])
    await client.sagaStarted({ sagaId: 'x', parentSagaId: ' à, b ' })
    expect(await parentOf('x')).toBe(' à, b ')
    await client.close()
    await grpc.report('SagaEnded', { sagaId: 'by-call' })

    const children = ['by-batch', 'by-call', 'by-client', 'by-client-batch', 'by-http']
    const root = await api.json('sagas/root')
    expect(root).toMatchObject({ parent_saga_id: null, children_counts: { Started: 4, Ended: 1 } })
    expect(root.children.map(({ saga_id }: { saga_id: string }) => saga_id).sort()).toEqual(children)
    expect(root.children.find(({ saga_id }: { saga_id: string }) => saga_id === 'by-call')).toEqual({
      saga_id: 'by-call',
      service_name: 'booking',
      status: 'Ended',
      outcome: 'empty',
      first_seen_at: expect.stringMatching(/Z$/),
      ended_at: expect.stringMatching(/Z$/),
    })
    for (const child of children) expect(await parentOf(child)).toBe('root')
    expect(await parentOf('unrelated')).toBeNull()
    expect(await api.json('sagas/unrelated')).toMatchObject({ children: [], children_counts: {} })
    expect((await api.json('sagas/by-call/events'))[0]).toMatchObject({ parent_saga_id: 'root' })
    const listed = await api.json('sagas?parent_saga_id=root&per_page=100')
    expect(listed.map(({ saga_id }: { saga_id: string }) => saga_id).sort()).toEqual(children)
    expect(listed[0]).toMatchObject({ parent_saga_id: 'root' })
  })

  it('may be named by a later event of an activity; the first one stays, and a repeated event adds none', async () => {
    const { grpc } = harness
    await grpc.report('SagaStarted', { sagaId: 'late', serviceName: 'booking' })
    const again = await grpc.report('SagaStarted', { sagaId: 'late', serviceName: 'booking' }, named('p'))
    expect(again.message).toBe('duplicate')
    expect(await parentOf('late')).toBeNull()
    const activity = { sagaId: 'late', activityId: 'late-a' }
    await grpc.report('ActivityExecuteStarted', activity, named('first'))
    await grpc.report('ActivityEnded', { activityId: 'late-a' }, named('second'))
    expect(await parentOf('late')).toBe('first')
    // The saga of this activity is still unknown, so the event says nothing about a saga.
    await grpc.report('ActivityRevoked', { activityId: 'early' }, named('lost'))
    await grpc.report('ActivityExecuteStarted', { sagaId: 'adopting', activityId: 'early' }, named('kept'))
    expect(await parentOf('adopting')).toBe('kept')
    await grpc.report(
      'SagaStarted',
      { sagaId: 'no-parent', serviceName: 'booking' },
      named('00000000-0000-0000-0000-000000000000'),
    )
    expect(await parentOf('no-parent')).toBeNull()
  })

  it('belongs to the same tenant', async () => {
    await harness.grpc.report(
      'SagaStarted',
      { sagaId: 'theirs', serviceName: 'booking' },
      { metadata: { 'x-parent-saga-id': 'root', 'x-tenant': 'acme' } },
    )
    expect(await api.json('sagas?parent_saga_id=root&tenant=acme')).toMatchObject([{ saga_id: 'theirs' }])
    const { children } = await api.json('sagas/root')
    expect(children).not.toContainEqual(expect.objectContaining({ saga_id: 'theirs' }))
  })

  it.each([
    ['x'.repeat(129), 'x-parent-saga-id is too long (maximum is 128 characters)'],
    ['a,b', 'x-parent-saga-id must have one value, without a comma'],
    ['bad', 'the saga is named as its own parent'],
  ])('is refused with INVALID_ARGUMENT when it is %s', async (parent, details) => {
    const call = harness.grpc.report('SagaStarted', { sagaId: 'bad', serviceName: 'booking' }, named(parent))
    await expect(call).rejects.toMatchObject({ code: 3, details: expect.stringContaining(details) })
    expect((await api.send('GET', 'sagas/bad')).status).toBe(404)
  })

  it('is refused only for its own event of a batch', async () => {
    const events = ['x'.repeat(129), 'bad\u0007', 'self', 'fine'].map((parentSagaId, index) => ({
      sagaStarted: { sagaId: parentSagaId === 'self' ? 'self' : `in-batch-${index}`, serviceName: 'booking' },
      parentSagaId,
    }))
    const bytes = await harness.grpc.unary(
      '/switchyard.sagas.v1.SagaIngest/ReportEvents',
      Buffer.from(ReportEventsRequest.encode(ReportEventsRequest.fromPartial({ events })).finish()),
    )
    const refused = EventOutcome.EVENT_OUTCOME_REFUSED
    expect(ReportEventsResponse.decode(bytes).results).toMatchObject([
      { outcome: refused, errors: expect.stringMatching(/^INVALID_PARAMETERS: parent_saga_id is too long/) },
      { outcome: refused, errors: 'INVALID_PARAMETERS: parent_saga_id is invalid' },
      { outcome: refused, errors: 'INVALID_PARAMETERS: the saga is named as its own parent' },
      { outcome: EventOutcome.EVENT_OUTCOME_RECORDED },
    ])
  })
})

it('a saga shows 100 of many children, and counts all', async () => {
  await harness.database.pool.query(
    `INSERT INTO sagas (tenant, id, service_name, status, first_seen_at, last_event_at, parent_saga_id)
     SELECT 'large', 's' || n, 'x', CASE WHEN n <= 120 THEN 'Started' ELSE 'Error' END, now() + n * interval '1 second',
       now(), CASE WHEN n > 0 THEN 's0' END
     FROM generate_series(0, 150) n`,
  )
  const { children, children_counts } = await api.json('sagas/s0?tenant=large')
  expect(children).toHaveLength(100)
  expect(children[0]).toMatchObject({ saga_id: 's150' })
  expect(children_counts).toEqual({ Started: 120, Error: 30 })
  await harness.database.pool.query("DELETE FROM sagas WHERE tenant = 'large'")
})

it('parents are derived from the log', async () => {
  const { code, lines } = await runRebuild(harness.serviceUrl, '--verify')
  expect([code, lines.at(-1)]).toEqual([0, expect.stringMatching(/; 0 differences, 0 repaired$/)])
  await harness.database.pool.query("UPDATE sagas SET parent_saga_id = NULL WHERE id = 'by-call'")
  const repaired = await runRebuild(harness.serviceUrl)
  expect(repaired.lines[0]).toBe('sagas default/by-call: differs in parentSagaId')
  expect(await parentOf('by-call')).toBe('root')
})
