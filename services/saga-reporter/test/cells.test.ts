import { credentials, Metadata, status } from '@grpc/grpc-js'
import {
  EventOutcome,
  ReportEventsRequest,
  ReportEventsResponse,
  ReportedEvent,
} from '@switchyard/contracts/saga-ingest'
import {
  GetSagaRequest,
  GetSagaResponse,
  SagaQueryClient,
  SagaQueryService,
  type WatchSagasResponse,
} from '@switchyard/contracts/saga-query'
import {
  ClaimRequest,
  ClaimResponse,
  CompleteRequest,
  CompleteResponse,
  Resolution,
} from '@switchyard/contracts/saga-recovery'
import type { Scope } from '@switchyard/domain/access'
import { createSagaClient, type ReportResult } from '@switchyard/saga-client'
import { createToken, createUser, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cellNames, runMoveTenant, startCells } from './cells-harness.js'
import { openStream } from './live/sse-client.js'
import { runRebuild } from './saga-rebuild.js'

let cells: Awaited<ReturnType<typeof startCells>>
/** It takes some seconds, for which the other tests need not wait. */
let moving: ReturnType<typeof runMoveTenant>
beforeAll(async () => {
  cells = await startCells()
  moving = runMoveTenant(cells.cells, 'fresh', 'second')
})
afterAll(() => cells?.close())

const metadataOf = (tenant: string, more = {}) => ({
  'private-token': cells.tokens.reporter,
  'x-tenant': tenant,
  ...more,
})

const start = (sagaId: string, tenant = '', id = ''): ReportedEvent =>
  ReportedEvent.fromPartial({ id, tenant, sagaStarted: { sagaId, serviceName: 'booking' } })

async function reportBatch(
  at: (typeof cellNames)[number],
  events: ReportedEvent[],
  token = cells.tokens.reporter,
) {
  const request = Buffer.from(ReportEventsRequest.encode({ events }).finish())
  const path = '/switchyard.sagas.v1.SagaIngest/ReportEvents'
  const metadata = { 'private-token': token }
  const { results } = ReportEventsResponse.decode(await cells.grpc[at].unary(path, request, { metadata }))
  return results
}

const recovery = async (at: (typeof cellNames)[number], method: string, request: Uint8Array) =>
  cells.grpc[at].unary(`/switchyard.sagas.v1.SagaRecovery/${method}`, Buffer.from(request), {
    metadata: { 'private-token': cells.tokens.reporter },
  })

/** What callers see while the cell `second` is unreachable. */
async function expectAway() {
  const results = await reportBatch('default', [start('a1', 'own'), start('a2', 'acme'), start('a3', 'own')])
  expect(results.map(({ outcome }) => outcome)).toEqual([
    EventOutcome.EVENT_OUTCOME_RECORDED,
    EventOutcome.EVENT_OUTCOME_RETRYABLE,
    EventOutcome.EVENT_OUTCOME_RECORDED,
  ])
  await expect(reportBatch('default', [start('a2', 'acme')])).rejects.toMatchObject({
    code: status.UNAVAILABLE,
  })
  const alone = cells.grpc.default.report(
    'SagaStarted',
    { sagaId: 'a4', serviceName: 'b' },
    { metadata: metadataOf('acme') },
  )
  await expect(alone).rejects.toMatchObject({ code: status.UNAVAILABLE })
  expect((await cells.ask('default', 'GET', '/sagas?tenant=acme', cells.tokens.reader)).status).toBe(503)
}

describe('two cells', () => {
  it('stores a single event in the cell of its tenant, whichever is asked, and knows it again at the other', async () => {
    const metadata = metadataOf('acme', { 'x-event-id': 'single-1' })
    const fields = { sagaId: 'single', serviceName: 'booking' }
    const before = await cells.countEvents('second', 'acme')
    const first = await cells.grpc.default.report('SagaStarted', fields, { metadata })
    const again = await cells.grpc.second.report('SagaStarted', fields, { metadata })
    expect([first.message, again.message]).toEqual(['recorded', 'duplicate'])
    expect(await cells.countEvents('second', 'acme')).toBe(before + 1)
    expect(await cells.countEvents('default', 'acme')).toBe(0)
  })

  it('passes on what the other cell refuses, and its own judgement of the token', async () => {
    const report = (token: string) =>
      cells.grpc.default.report(
        'SagaStarted',
        {},
        { metadata: { ...metadataOf('acme'), 'private-token': token } },
      )
    expect(await report(cells.tokens.reporter)).toMatchObject({
      isSuccess: false,
      errors: /^SAGA_ID_REQUIRED/,
    })
    await expect(report(cells.tokens.reader)).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
  })

  it.each(cellNames)(
    'keep a token that is bound to acme to it, named or not, when %s is asked',
    async (at) => {
      const { default: directory } = cells.cells
      const scopes: Scope[] = ['saga_report', 'read_sagas']
      const user = await createUser(directory.database)
      const { secret } = await createToken(directory.database, user, { scopes, tenants: ['acme'] })
      const metadata = { 'private-token': secret }
      const before = await cells.countEvents('second', 'acme')
      const ids = [`bound-${at}-1`, `bound-${at}-2`, `bound-${at}-3`] as const
      await cells.grpc[at].report('SagaStarted', { sagaId: ids[0], serviceName: 'booking' }, { metadata })
      const [own, foreign] = await reportBatch(at, [start(ids[1]), start(ids[1], 'own')], secret)
      expect(own?.outcome).toBe(EventOutcome.EVENT_OUTCOME_RECORDED)
      expect(foreign).toMatchObject({ outcome: EventOutcome.EVENT_OUTCOME_REFUSED, errors: /^FORBIDDEN/ })
      const events = [{ operation: 'SagaStarted', saga_id: ids[2], service_name: 'booking' }]
      expect((await cells.ask(at, 'POST', '/saga_events', secret, { events })).body.results).toMatchObject([
        { outcome: 'recorded' },
      ])
      expect(await cells.countEvents('second', 'acme')).toBe(before + 3)
      expect(await cells.ask(at, 'GET', `/sagas/${ids[0]}`, secret)).toMatchObject({
        status: 200,
        body: { tenant: 'acme' },
      })
      expect((await cells.ask(at, 'GET', '/sagas?tenant=own', secret)).status).toBe(403)
    },
  )

  it.each(cellNames)(
    'divides a batch that %s gets by the cells of its tenants, and answers in order',
    async (at) => {
      const counts = async () => [
        await cells.countEvents('default', 'own'),
        await cells.countEvents('second', 'acme'),
      ]
      const before = await counts()
      const results = await reportBatch(at, [
        start(`${at}-1`, 'own'),
        start(`${at}-2`, 'acme', `${at}-2`),
        start('', 'acme'),
        start(`${at}-3`, 'own'),
        start(`${at}-2`, 'acme', `${at}-2`),
      ])
      expect(results.map(({ message }) => message)).toEqual([
        ...['recorded', 'recorded', 'sagaId must not be empty', 'recorded', 'duplicate'],
      ])
      expect(results[2]?.errors).toMatch(/^SAGA_ID_REQUIRED: /)
      expect(await counts()).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1])
    },
  )

  it('takes the same batch over HTTP', async () => {
    const events = [
      { operation: 'SagaStarted', saga_id: 'h1', service_name: 'booking', tenant: 'acme' },
      { operation: 'SagaStarted', saga_id: 'h2', service_name: 'booking' },
      { operation: 'Nothing' },
    ]
    const { status: code, body } = await cells.ask('default', 'POST', '/saga_events', cells.tokens.reporter, {
      events,
    })
    expect(code).toBe(200)
    expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      ...['recorded', 'recorded', 'refused'],
    ])
    const { body: saga } = await cells.ask('default', 'GET', '/sagas/h1?tenant=acme', cells.tokens.reader)
    expect(saga).toMatchObject({ saga_id: 'h1', tenant: 'acme' })
  })

  it('reads, lists and changes sagas through the wrong cell, with the rights of the caller', async () => {
    await reportBatch('default', [start('read', 'acme')])
    const { reader, administrator, user, unknown } = cells.tokens
    const list = await cells.ask('default', 'GET', '/sagas?tenant=acme&id_prefix=read', reader)
    expect(list.body.map(({ saga_id: id }: { saga_id: string }) => id)).toEqual(['read'])
    expect((await cells.ask('default', 'GET', '/sagas?id_prefix=read', reader)).body).toEqual([])
    expect((await cells.ask('default', 'GET', '/sagas/none?tenant=acme', reader)).status).toBe(404)
    expect((await cells.ask('default', 'GET', '/sagas?tenant=acme&per_page=x', reader)).status).toBe(400)
    expect((await cells.ask('default', 'GET', '/sagas?tenant=acme', user)).status).toBe(403)
    expect((await cells.ask('default', 'GET', '/sagas?tenant=acme', unknown)).status).toBe(401)
    const note = { tenant: 'acme', body: 'looked at' }
    expect(await cells.ask('default', 'POST', '/sagas/read/notes', administrator, note)).toMatchObject({
      status: 201,
      body: { body: 'looked at' },
    })
    const detail = await cells.ask('second', 'GET', '/sagas/read?tenant=acme', reader)
    expect(detail.body.notes).toMatchObject([{ body: 'looked at' }])
    const request = Buffer.from(GetSagaRequest.encode({ tenant: 'acme', sagaId: 'read' }).finish())
    const metadata = { 'private-token': reader }
    const found = await cells.grpc.default.unary(SagaQueryService.getSaga.path, request, { metadata })
    expect(GetSagaResponse.decode(found).saga).toMatchObject({ sagaId: 'read' })
  })

  it('keeps webhooks beside the sagas of their tenant', async () => {
    const { administrator } = cells.tokens
    const fields = {
      ...{ tenant: 'acme', url: 'https://example.com/hook', secret: 'a-secret-of-the-tests' },
      events: ['saga.ended'],
    }
    const made = await cells.ask('default', 'POST', '/sagas/webhooks', administrator, fields)
    expect(made).toMatchObject({ status: 201, body: { tenant: 'acme' } })
    const path = `/sagas/webhooks/${made.body.id}`
    expect((await cells.ask('default', 'GET', path, administrator)).status).toBe(404)
    expect((await cells.ask('default', 'GET', `${path}?tenant=acme`, administrator)).status).toBe(200)
    expect((await cells.ask('default', 'DELETE', `${path}?tenant=acme`, administrator)).status).toBe(204)
    expect((await cells.ask('second', 'GET', `${path}?tenant=acme`, administrator)).status).toBe(404)
  })

  it('follows the log of a tenant live through the wrong cell', async () => {
    const headers = { 'PRIVATE-TOKEN': cells.tokens.reader }
    const stream = await openStream(cells.urlOf('default', '/sagas/stream?tenant=acme&saga_id=live'), headers)
    await reportBatch('default', [start('live', 'acme')])
    await stream.waitForEvents(1)
    await stream.close()
    expect(stream.events[0]?.data).toMatchObject({ saga_id: 'live', operation: 'SagaStarted' })
  })

  it('streams over gRPC through the wrong cell, and ends there as well when the client leaves', async () => {
    const client = new SagaQueryClient(
      `127.0.0.1:${cells.cells.default.grpcPort}`,
      credentials.createInsecure(),
    )
    const metadata = new Metadata()
    metadata.set('private-token', cells.tokens.reader)
    const openStreams = async () => {
      const metrics = await fetch(`http://127.0.0.1:${cells.cells.second.port}/metrics`)
      return /saga_watch_streams\{[^}]*kind="grpc"[^}]*\} (\d+)/.exec(await metrics.text())?.[1]
    }
    try {
      const request = { tenant: 'acme', sagaId: 'watched', statuses: [], operations: [] }
      const stream = client.watchSagas(request, metadata)
      const messages: WatchSagasResponse[] = []
      stream.on('data', (message: WatchSagasResponse) => messages.push(message))
      stream.on('error', () => {})
      await waitFor(() => messages.length > 0, { what: 'the stream to begin' })
      expect(await openStreams()).toBe('1')
      await reportBatch('default', [start('watched', 'acme')])
      await waitFor(() => messages.some(({ event }) => event?.sagaId === 'watched'), { what: 'the event' })
      stream.cancel()
      await waitFor(async () => (await openStreams()) === '0', { what: 'the stream to end in second' })
    } finally {
      client.close()
    }
  })

  it('runs and cancels bulk jobs through the wrong cell', async () => {
    const { administrator } = cells.tokens
    await reportBatch('default', [start('noted', 'acme')])
    const body = { tenant: 'acme', action: 'note', note: 'seen', filter: { id_prefix: 'noted' } }
    const made = await cells.ask('default', 'POST', '/sagas/bulk', administrator, body)
    expect(made).toMatchObject({ status: 201, body: { matched: 1 } })
    const path = `/sagas/bulk/${made.body.id}`
    const isFinished = async () =>
      (await cells.ask('default', 'GET', `${path}?tenant=acme`, administrator)).body.state === 'finished'
    await waitFor(isFinished, { what: 'the job to end' })
    const saga = await cells.ask('second', 'GET', '/sagas/noted?tenant=acme', cells.tokens.reader)
    expect(saga.body.notes).toMatchObject([{ body: 'seen' }])
    // A job that a process holds goes on until it is canceled.
    const { rows } = await cells.cells.second.database.pool.query<{ id: number }>(
      `INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author, active_user_id,
          owner, owned_until)
        VALUES ('acme', 'note', '', '{}', 1, 'a', '{}', 1, 'somebody', now() + interval '1 hour') RETURNING id`,
    )
    const cancel = (tenant: string) =>
      cells.ask('default', 'POST', `/sagas/bulk/${rows[0]?.id}/cancel`, administrator, { tenant })
    expect((await cancel('own')).status).toBe(404)
    expect(await cancel('acme')).toMatchObject({ status: 200, body: { state: 'canceled' } })
  })

  it('finishes a lease through the cell that did not give it', async () => {
    await reportBatch('default', [start('leased', 'acme')])
    const request = ClaimRequest.fromPartial({
      tenant: 'acme',
      serviceName: 'booking',
      minIdleSeconds: 0,
      max: 100,
    })
    const { sagas } = ClaimResponse.decode(
      await recovery('default', 'Claim', ClaimRequest.encode(request).finish()),
    )
    const lease = sagas.find(({ saga }) => saga?.sagaId === 'leased')
    expect(lease?.leaseToken).toMatch(/^second\//)
    const done = { leaseToken: lease?.leaseToken ?? '', resolution: Resolution.RESOLUTION_DONE, note: '' }
    const completed = await recovery('default', 'Complete', CompleteRequest.encode(done).finish())
    expect(CompleteResponse.decode(completed)).toMatchObject({ availableAt: undefined })
  })

  it('sends nothing on twice: where the cells disagree the caller is asked to come again', async () => {
    const metadata = metadataOf('acme', { 'x-switchyard-forwarded-by': 'second' })
    const report = cells.grpc.default.report(
      'SagaStarted',
      { sagaId: 'loop', serviceName: 'b' },
      { metadata },
    )
    await expect(report).rejects.toMatchObject({ code: status.UNAVAILABLE })
  })

  it('takes no event of a tenant that moves', async () => {
    await cells.place('newcomer', null)
    const take = () =>
      cells.grpc.default.report(
        'SagaStarted',
        { sagaId: 's', serviceName: 'b' },
        { metadata: metadataOf('newcomer') },
      )
    const refusal = async () =>
      take().then(
        () => null,
        (error: { code: number }) => error.code,
      )
    await waitFor(async () => (await refusal()) === status.UNAVAILABLE, { what: 'the tenant to be refused' })
    await cells.place('newcomer', 'second')
    await waitFor(async () => (await refusal()) === null, { what: 'the tenant to be taken' })
    expect(await cells.countEvents('second', 'newcomer')).toBe(1)
  })

  it('refuses only the events of a cell that is unreachable, and loses and doubles none that an orchestrator repeats', async () => {
    const client = createSagaClient({
      address: `127.0.0.1:${cells.cells.default.grpcPort}`,
      token: cells.tokens.reporter,
      tenant: 'acme',
      serviceName: 'load',
      retryDelayMs: 20,
      retryDelayMsMax: 200,
    })
    const results: Promise<ReportResult>[] = []
    const timer = setInterval(() => {
      for (let index = 0; index < 5; index += 1)
        results.push(client.sagaStarted({ sagaId: `load-${results.length}` }))
    }, 10)
    try {
      await waitFor(() => client.stats().stored > 100, { what: 'events to be stored' })
      await cells.kill('second')
      await expectAway()
      await waitFor(() => client.stats().repeated > 0, { what: 'events to be repeated' })
      await cells.restart('second')
      const before = client.stats().stored
      await waitFor(() => client.stats().stored > before + 100, { what: 'events to be stored again' })
    } finally {
      clearInterval(timer)
    }
    const outcomes = new Set((await Promise.all(results)).map(({ outcome }) => outcome))
    await client.close(0)
    expect([...outcomes]).toEqual(['stored'])
    const { rows } = await cells.cells.second.database.pool.query<{ events: number; sagas: number }>(
      `SELECT count(*)::int AS events, count(DISTINCT saga_id)::int AS sagas FROM saga_events
        WHERE tenant = 'acme' AND saga_id LIKE 'load-%'`,
    )
    expect(rows).toEqual([{ events: results.length, sagas: results.length }])
    const verified = cellNames.map((name) => runRebuild(cells.cells[name].url, '--verify'))
    expect(await Promise.all(verified)).toMatchObject([{ code: 0 }, { code: 0 }])
  })

  it('has a command that places a tenant before its first event', async () => {
    expect(await moving).toEqual({ code: 0, output: 'fresh belongs to the cell second' })
    const isTaken = async () =>
      (await reportBatch('default', [start('f', 'fresh')]).catch(() => [])).length > 0
    await waitFor(isTaken, { what: 'the tenant to be taken' })
    expect(await cells.countEvents('second', 'fresh')).toBe(1)
  })
})
