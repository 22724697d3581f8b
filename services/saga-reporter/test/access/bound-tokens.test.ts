import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  EventOutcome,
  ReportEventsRequest,
  ReportEventsResponse,
  ReportedEvent,
} from '@switchyard/contracts/saga-ingest'
import {
  GetSagaRequest,
  GetSagaResponse,
  ListSagasRequest,
  SagaQueryClient,
} from '@switchyard/contracts/saga-query'
import {
  ClaimRequest,
  ClaimResponse,
  CompleteRequest,
  ExtendRequest,
  Resolution,
} from '@switchyard/contracts/saga-recovery'
import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encode } from '../grpc-client.js'
import { startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let service: Awaited<ReturnType<typeof startService>>
let watcher: SagaQueryClient
/** Tokens by the tenants to which they are bound. */
const tokens = { acme: '', two: '', free: '', admin: '', globex: '' }

beforeAll(async () => {
  harness = await startHarness()
  service = await startService(harness.serviceUrl, { SAGA_AUTH: 'token' })
  watcher = new SagaQueryClient(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure())
  const user = await createUser(harness.database)
  const administrator = await createUser(harness.database, { admin: true })
  const scopes = ['saga_report', 'read_sagas'] as const
  const secretOf = async (tenants: string[]) =>
    (await createToken(harness.database, user, { scopes: [...scopes], tenants })).secret
  tokens.acme = await secretOf(['acme'])
  tokens.globex = await secretOf(['globex'])
  tokens.two = await secretOf(['acme', 'globex'])
  tokens.free = await secretOf([])
  tokens.admin = (await createToken(harness.database, administrator, { tenants: ['acme'] })).secret
})
afterAll(async () => {
  watcher?.close()
  await service?.close()
  await harness?.close()
})

const denied = { code: status.PERMISSION_DENIED }
const metadataOf = (token: string, tenant?: string) => ({
  'private-token': token,
  ...(tenant !== undefined && { 'x-tenant': tenant }),
})

const start = (token: string, sagaId: string, tenant?: string) =>
  service.grpc.report(
    'SagaStarted',
    { sagaId, serviceName: 'booking' },
    { metadata: metadataOf(token, tenant) },
  )

const unary = (path: string, token: string, request: Uint8Array) =>
  service.grpc.unary(`/switchyard.sagas.v1.${path}`, Buffer.from(request), { metadata: metadataOf(token) })

/** Sends an HTTP request about sagas, and returns status and body. */
async function ask(token: string, method: string, path: string, body?: unknown, tenant?: string) {
  const response = await fetch(`${service.baseUrl}/api/v4${path}`, {
    method,
    headers: { ...metadataOf(token, tenant), 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}
const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status

const tenantOf = async (sagaId: string) => {
  const saga = await harness.database.pool.query('SELECT tenant FROM sagas WHERE id = $1', [sagaId])
  return saga.rows.map(({ tenant }) => tenant)
}

describe('an event over gRPC', () => {
  it('belongs to the tenant of a token that is bound to one, and to no other', async () => {
    expect(await start(tokens.acme, 'single')).toMatchObject({ isSuccess: true })
    expect(await start(tokens.acme, 'single', 'acme')).toMatchObject({ isSuccess: true })
    expect(await tenantOf('single')).toEqual(['acme'])
    for (const tenant of ['globex', 'default'])
      await expect(start(tokens.acme, 'single', tenant)).rejects.toMatchObject({
        ...denied,
        details: 'this sender is bound to tenant acme only',
      })
    // An event cannot end a saga of another tenant either.
    await start(tokens.globex, 'theirs')
    const end = encode('SagaEnded', { sagaId: 'theirs', serviceName: 'booking' })
    const path = '/svc.Sagas.Server.Grpc.Saga/SagaEnded'
    const options = { metadata: metadataOf(tokens.acme, 'globex') }
    await expect(service.grpc.unary(path, end, options)).rejects.toMatchObject(denied)
  })

  it('must name one of several tenants of a token', async () => {
    expect(await start(tokens.two, 'named', 'globex')).toMatchObject({ isSuccess: true })
    await expect(start(tokens.two, 'unnamed')).rejects.toMatchObject({
      ...denied,
      details: 'this sender is bound to tenants acme, globex only',
    })
    expect(await tenantOf('unnamed')).toEqual([])
  })

  it('may belong to any tenant with an unbound token', async () => {
    expect(await start(tokens.free, 'free', 'anybody')).toMatchObject({ isSuccess: true })
    await start(tokens.free, 'free')
    expect((await tenantOf('free')).sort()).toEqual(['anybody', 'default'])
  })
})

describe('where everybody may report', () => {
  it('bound tokens are limited to their tenants, and every other token is ignored', async () => {
    const open = await startService(harness.serviceUrl, { SAGA_AUTH: 'none' })
    try {
      const report = (sagaId: string, token: string, tenant?: string) =>
        open.grpc.report(
          'SagaStarted',
          { sagaId, serviceName: 'booking' },
          { metadata: metadataOf(token, tenant) },
        )
      expect(await report('open', tokens.acme)).toMatchObject({ isSuccess: true })
      expect(await tenantOf('open')).toEqual(['acme'])
      await expect(report('open', tokens.acme, 'globex')).rejects.toMatchObject(denied)
      for (let attempt = 0; attempt < 70; attempt += 1)
        expect(await report('open-2', `unknown-${attempt}`, 'globex')).toMatchObject({ isSuccess: true })
      expect(await tenantOf('open-2')).toEqual(['globex'])
    } finally {
      await open.close()
    }
  })
})

describe('a batch', () => {
  const event = (sagaId: string, tenant = '') =>
    ReportedEvent.fromPartial({ tenant, sagaStarted: { sagaId, serviceName: 'booking' } })
  const outcomes = async (token: string, events: ReportedEvent[]) => {
    const bytes = ReportEventsRequest.encode({ events }).finish()
    const { results } = ReportEventsResponse.decode(await unary('SagaIngest/ReportEvents', token, bytes))
    return results.map(({ outcome, errors }) => [outcome, errors.split(':')[0]])
  }
  const recorded = [EventOutcome.EVENT_OUTCOME_RECORDED, '']

  it('over gRPC refuses each event of a foreign tenant, and accepts the others', async () => {
    const sent = [event('batch'), event('batch-2', 'acme'), event('batch-3', 'globex')]
    expect(await outcomes(tokens.acme, sent)).toEqual([recorded, recorded, [expect.any(Number), 'FORBIDDEN']])
    expect(await tenantOf('batch')).toEqual(['acme'])
    expect(await tenantOf('batch-3')).toEqual([])
    expect(await outcomes(tokens.two, [event('two', 'globex'), event('two-2')])).toEqual([
      recorded,
      [expect.any(Number), 'FORBIDDEN'],
    ])
  })

  it('over HTTP does the same, and a foreign x-tenant is refused as a whole', async () => {
    const of = (saga_id: string, tenant?: string) => ({
      operation: 'SagaStarted',
      saga_id,
      service_name: 'booking',
      tenant,
    })
    const events = { events: [of('http'), of('http-2', 'globex')] }
    const { body } = await ask(tokens.acme, 'POST', '/saga_events', events)
    expect(body.results).toMatchObject([{ outcome: 'recorded' }, { outcome: 'refused' }])
    expect(await tenantOf('http')).toEqual(['acme'])
    expect(await tenantOf('http-2')).toEqual([])
    expect(await statusOf(tokens.acme, 'POST', '/saga_events', events, 'globex')).toBe(403)
  })
})

describe('reading', () => {
  it('shows the own tenant by default, and refuses every other one, on every path', async () => {
    await start(tokens.acme, 'read')
    await start(tokens.globex, 'foreign')
    const { body } = await ask(tokens.acme, 'GET', '/sagas/read')
    expect(body).toMatchObject({ saga_id: 'read', tenant: 'acme' })
    const paths = [
      '/sagas',
      '/sagas/foreign',
      '/sagas/foreign/events',
      '/sagas/foreign/activities/a/payloads/parameter',
      '/sagas/parked_activities',
      '/sagas/stats',
      '/sagas/failure_history',
      '/sagas/export',
      '/sagas/stream',
      '/sagas/bulk',
      '/sagas/bulk/1',
      '/sagas/bulk/1/results',
      '/sagas/commands',
      '/sagas/commands/6b7e1f3c-0000-4000-8000-000000000000',
      '/sagas/foreign/commands',
    ]
    for (const path of paths) {
      expect(await statusOf(tokens.acme, 'GET', `${path}?tenant=globex`), path).toBe(403)
      expect(await statusOf(tokens.two, 'GET', path), path).toBe(403)
    }
    expect(await statusOf(tokens.two, 'GET', '/sagas/foreign?tenant=globex')).toBe(200)
    expect(await statusOf(tokens.free, 'GET', '/sagas/foreign?tenant=globex')).toBe(200)
  })

  it('over gRPC does the same, also for streams', async () => {
    await start(tokens.acme, 'query')
    const get = async (token: string, tenant: string) =>
      GetSagaResponse.decode(
        await unary(
          'SagaQuery/GetSaga',
          token,
          GetSagaRequest.encode({ tenant, sagaId: 'query', pageToken: '' }).finish(),
        ),
      )
    expect((await get(tokens.acme, '')).saga).toMatchObject({ tenant: 'acme' })
    await expect(get(tokens.acme, 'globex')).rejects.toMatchObject(denied)
    const list = ListSagasRequest.encode(ListSagasRequest.fromPartial({ tenant: 'globex' })).finish()
    await expect(unary('SagaQuery/ListSagas', tokens.acme, list)).rejects.toMatchObject(denied)
    const metadata = new Metadata()
    metadata.set('private-token', tokens.acme)
    const request = {
      tenant: 'globex',
      serviceName: undefined,
      sagaId: undefined,
      statuses: [],
      operations: [],
    }
    const error = await new Promise<ServiceError>((resolve) => {
      watcher.watchSagas({ ...request, afterSequence: undefined }, metadata).on('error', resolve)
    })
    expect(error).toMatchObject(denied)
  })
})

describe('an administrator with a bound token', () => {
  it('changes no saga of another tenant, alone or in bulk', async () => {
    await start(tokens.acme, 'noted')
    await start(tokens.globex, 'noted')
    const filter = { service_name: 'booking' }
    expect(await statusOf(tokens.admin, 'POST', '/sagas/noted/notes', { body: 'seen' })).toBe(201)
    const changes: Record<string, object> = {
      '/sagas/noted/notes': { body: 'seen' },
      '/sagas/noted/resolve': { note: 'seen' },
      '/sagas/bulk': { action: 'note', note: 'seen', filter },
      '/sagas/bulk/preview': { filter },
      '/sagas/bulk/1/cancel': {},
      '/sagas/bulk/1/undo': {},
      '/sagas/commands': { kind: 'cancel', reason: 'x', filter, expected_count: 1 },
      '/sagas/commands/preview': { kind: 'cancel', filter },
      '/sagas/noted/commands': { kind: 'cancel', reason: 'x' },
      '/sagas/commands/6b7e1f3c-0000-4000-8000-000000000000/withdraw': {},
    }
    for (const [path, body] of Object.entries(changes))
      expect(await statusOf(tokens.admin, 'POST', path, { ...body, tenant: 'globex' }), path).toBe(403)
    expect(await statusOf(tokens.admin, 'POST', '/sagas/bulk/preview', { filter })).toBe(200)
  })

  it('sees and changes only the webhooks of its tenant, whatever id it names', async () => {
    const administrator = await createUser(harness.database, { admin: true })
    const free = (await createToken(harness.database, administrator)).secret
    const hook = { url: 'https://hooks.example.com/', secret: 'x'.repeat(16), events: ['saga.error'] }
    const made = async (token: string, tenant: string) =>
      (await ask(token, 'POST', '/sagas/webhooks', { ...hook, tenant })).body.id as number
    const own = await made(tokens.admin, 'acme')
    const foreign = await made(free, 'globex')
    expect(await statusOf(tokens.admin, 'POST', '/sagas/webhooks', { ...hook, tenant: 'globex' })).toBe(403)
    const { body } = await ask(tokens.admin, 'GET', '/sagas/webhooks')
    expect(body).toMatchObject([{ id: own, tenant: 'acme' }])
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const) {
      const of = `/sagas/webhooks/${foreign}${path}`
      expect(await statusOf(tokens.admin, method, of), `${method} ${path}`).toBe(404)
      expect(await statusOf(tokens.admin, method, `${of}?tenant=globex`), `${method} ${path}`).toBe(403)
    }
    expect(await statusOf(free, 'GET', `/sagas/webhooks/${foreign}?tenant=globex`)).toBe(200)
    expect(await statusOf(tokens.admin, 'GET', `/sagas/webhooks/${own}`)).toBe(200)
  })
})

describe('recovery', () => {
  const claim = async (token: string, tenant: string, serviceName: string) => {
    const request = ClaimRequest.fromPartial({ tenant, serviceName, minIdleSeconds: 0, worker: 'test' })
    const bytes = await unary('SagaRecovery/Claim', token, ClaimRequest.encode(request).finish())
    return ClaimResponse.decode(bytes).sagas
  }

  it('leases sagas of the own tenant, and accepts no foreign lease', async () => {
    const metadata = metadataOf(tokens.globex)
    await service.grpc.report('SagaStarted', { sagaId: 'leased', serviceName: 'recovering' }, { metadata })
    await expect(claim(tokens.acme, 'globex', 'recovering')).rejects.toMatchObject(denied)
    expect(await claim(tokens.acme, '', 'recovering')).toEqual([])
    const [lease] = await claim(tokens.globex, '', 'recovering')
    const leaseToken = lease?.leaseToken ?? ''
    const extend = ExtendRequest.encode({ leaseToken, leaseSeconds: 60 }).finish()
    const complete = CompleteRequest.encode({
      leaseToken,
      resolution: Resolution.RESOLUTION_DONE,
      note: '',
    }).finish()
    const over = { code: status.FAILED_PRECONDITION }
    await expect(unary('SagaRecovery/Extend', tokens.acme, extend)).rejects.toMatchObject(over)
    await expect(unary('SagaRecovery/Complete', tokens.acme, complete)).rejects.toMatchObject(over)
    expect(await unary('SagaRecovery/Extend', tokens.globex, extend)).toBeDefined()
    expect(await unary('SagaRecovery/Complete', tokens.globex, complete)).toBeDefined()
  })
})
