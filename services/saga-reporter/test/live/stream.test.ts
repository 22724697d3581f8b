import { once } from 'node:events'
import { connect } from 'node:net'
import {
  createSession,
  createToken,
  createUser,
  startTestRedis,
  type TestRedis,
  waitFor,
} from '@switchyard/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'
import { addSagaRow, appendEntries, appendEntry } from './log-writer.js'
import { openStream } from './sse-client.js'

let redis: TestRedis
let harness: Awaited<ReturnType<typeof startHarness>>
let replica: Awaited<ReturnType<typeof startService>>
let tokens: Awaited<ReturnType<typeof createTokens>>
const open: Awaited<ReturnType<typeof openStream>>[] = []

beforeAll(async () => {
  redis = await startTestRedis()
  const env = { REDIS_URL: redis.urlOf('saga-reporter') }
  harness = await startHarness(env)
  replica = await startService(harness.databaseUrl, env)
  tokens = await createTokens(harness.database)
})
afterAll(async () => {
  await replica?.close()
  await harness?.close()
  await redis?.stop()
})
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.close()
})

const address = (query = '', baseUrl = harness.baseUrl) => `${baseUrl}/api/v4/sagas/stream${query}`
const reader = () => ({ 'PRIVATE-TOKEN': tokens.reader })

async function stream(query = '', headers: Record<string, string> = reader(), baseUrl = harness.baseUrl) {
  const opened = await openStream(address(query, baseUrl), headers)
  open.push(opened)
  return opened
}

const start = (sagaId: string, serviceName = 'booking') =>
  harness.grpc.report('SagaStarted', { sagaId, serviceName })

const gaugeOf = async ({ metrics }: typeof harness) => {
  const gauge = await metrics.registry.getSingleMetric('saga_watch_streams')?.get()
  return gauge?.values.find(({ labels }) => labels.kind === 'sse')?.value
}

describe('access to the stream', () => {
  it.each([
    ['nobody', {}, 401],
    ['an unknown token', { 'PRIVATE-TOKEN': 'glpat-unknown' }, 401],
  ])('not %s', async (_who, headers, status) => {
    expect((await stream('', headers)).response.status).toBe(status)
  })

  it('is refused to reporters and users, and granted to readers and administrators', async () => {
    const statusOf = async (token: string) => (await stream('', { 'PRIVATE-TOKEN': token })).response.status
    expect(await statusOf(tokens.reporter)).toBe(403)
    expect(await statusOf(tokens.user)).toBe(403)
    expect(await statusOf(tokens.administrator)).toBe(200)
    expect(await statusOf(tokens.reader)).toBe(200)
  })

  it('is granted to the session of a browser, until it ends', async () => {
    const { database } = harness
    const { token } = await createToken(database, await createUser(database), { scopes: ['read_sagas'] })
    const client = await stream('', { Cookie: await createSession(database, token) })
    expect(client.response.status).toBe(200)
    await start('seen-by-a-session')
    await client.waitForEvents(1)
    await database.prisma.session.deleteMany({ where: { tokenId: token.id } })
    await waitFor(client.hasEnded, { what: 'the stream to end with its session' })
  })

  it.each([
    ['?status=Ended,Done', 'status does not have a valid value'],
    ['?operation=Nothing', 'operation does not have a valid value'],
    ['?last_event_id=x', 'last_event_id is invalid'],
    ['?last_event_id=-1', 'last_event_id does not have a valid value'],
    ['?tenant=%20', 'tenant is empty'],
  ])('bad parameters are refused: %s', async (query, error) => {
    const response = await fetch(address(query), { headers: reader() })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error })
  })

  it('with HEAD is answered without opening a stream', async () => {
    const response = await fetch(address(), { method: 'HEAD', headers: reader() })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  })
})

describe('a stream', () => {
  it('delivers events as they are reported', async () => {
    const client = await stream()
    expect(Object.fromEntries(client.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    await start('told')
    await harness.grpc.report('ActivityExecuteStarted', { sagaId: 'told', activityId: 'told-a', order: 0 })
    await client.waitForEvents(2)
    expect(client.events).toMatchObject([
      {
        event: 'message',
        data: { tenant: 'default', saga_id: 'told', operation: 'SagaStarted', service_name: 'booking' },
      },
      { data: { saga_id: 'told', activity_id: 'told-a', activity_status: 'Executing', status: 'Started' } },
    ])
    expect(client.events[0]).toMatchObject({ data: { seq: client.sequences()[0] } })
  })

  it('is filtered by tenant, service, saga, statuses and operations', async () => {
    const { database } = harness
    await addSagaRow(database, 'f1', 'shipping', 'Started')
    await addSagaRow(database, 'f2', 'shipping', 'Error')
    const queries = [
      '?service_name=shipping',
      '?saga_id=f2',
      '?status=Error,Ended&service_name=shipping',
      '?operation=SagaEnded&service_name=shipping',
      '?tenant=other',
    ]
    const clients = await Promise.all(queries.map((query) => stream(query)))
    await appendEntry(database.pool, { sagaId: 'f1' })
    await appendEntry(database.pool, { sagaId: 'f2' })
    await appendEntry(database.pool, { sagaId: 'f2', operation: 'SagaEnded' })
    await appendEntry(database.pool, { sagaId: 'f1', tenant: 'other' })
    const seen = (client: (typeof clients)[number]) =>
      client.events.map(({ data }) => {
        const { saga_id, operation } = data as Record<string, string>
        return `${saga_id} ${operation}`
      })
    await waitFor(() => clients.every((client) => seen(client).length > 0))
    await clients[0]?.waitForEvents(3)
    await clients[1]?.waitForEvents(2)
    expect(clients.map(seen)).toEqual([
      ['f1 SagaStarted', 'f2 SagaStarted', 'f2 SagaEnded'],
      ['f2 SagaStarted', 'f2 SagaEnded'],
      ['f2 SagaStarted', 'f2 SagaEnded'],
      ['f2 SagaEnded'],
      ['f1 SagaStarted'],
    ])
  })

  it('continues after the last received event, on any replica, with each event exactly once', async () => {
    const first = await stream()
    await start('resume-0')
    await first.waitForEvents(1)
    await first.close()
    const lastEventId = first.lastEventId() ?? ''
    for (let n = 1; n <= 5; n += 1) await start(`resume-${n}`)
    const second = await stream('', { ...reader(), 'Last-Event-ID': lastEventId }, replica.baseUrl)
    const third = await stream(`?last_event_id=${lastEventId}`)
    for (let n = 6; n <= 9; n += 1) await start(`resume-${n}`)
    for (const client of [second, third]) {
      await client.waitForEvents(9)
      const ids = client.events.map(({ data }) => (data as { saga_id: string }).saga_id)
      expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `resume-${n}`))
    }
  })

  it('prefers the header to the position in the query', async () => {
    const [one, two] = [await appendEntry(harness.database.pool), await appendEntry(harness.database.pool)]
    const client = await stream(`?last_event_id=${one - 1}`, { ...reader(), 'Last-Event-ID': String(one) })
    await client.waitForEvents(1)
    expect(client.sequences()).toEqual([two])
  })

  it('restarts when its position is beyond the end of the log', async () => {
    const client = await stream('?last_event_id=9000000000')
    await client.waitForEvents(1)
    expect(client.events[0]).toMatchObject({ event: 'reset' })
    await start('after-reset')
    await client.waitForEvents(2)
    expect(client.events[1]).toMatchObject({ data: { saga_id: 'after-reset' } })
  })

  it('ends within a second after its token was revoked', async () => {
    const { reader: victim } = await createTokens(harness.database)
    const client = await stream('', { 'PRIVATE-TOKEN': victim })
    const other = await stream()
    await harness.database.pool.query(
      `UPDATE personal_access_tokens SET revoked_at = now()
       WHERE token_hash = sha256($1::text::bytea)`,
      [victim],
    )
    const revokedMs = Date.now()
    await waitFor(client.hasEnded)
    // A second by design, and another one for a busy machine.
    expect(Date.now() - revokedMs).toBeLessThan(2000)
    expect(client.events.at(-1)).toMatchObject({ event: 'close', data: { message: '401 Unauthorized' } })
    expect(other.hasEnded()).toBe(false)
  })

  it('ends within a second after its user was blocked', async () => {
    const { reader: victim } = await createTokens(harness.database)
    const client = await stream('', { 'PRIVATE-TOKEN': victim })
    await harness.database.pool.query(
      `UPDATE users SET state = 'blocked' WHERE id =
         (SELECT user_id FROM personal_access_tokens WHERE token_hash = sha256($1::text::bytea))`,
      [victim],
    )
    const blockedMs = Date.now()
    await waitFor(client.hasEnded)
    expect(Date.now() - blockedMs).toBeLessThan(2000)
  })

  it('is counted while it is open', async () => {
    await waitFor(async () => (await gaugeOf(harness)) === 0)
    const client = await stream()
    expect(await gaugeOf(harness)).toBe(1)
    await client.close()
    await waitFor(async () => (await gaugeOf(harness)) === 0)
  })
})

describe('replicas', () => {
  it('receive the events of others, at once with Redis and within seconds without it', async () => {
    const client = await stream('', reader(), replica.baseUrl)
    await start('with-redis')
    await client.waitForEvents(1)
    await redis.kill()
    await start('without-redis')
    await client.waitForEvents(2)
    const { status } = await fetch(`${harness.baseUrl}/-/readiness`)
    expect(status).toBe(200)
    await redis.restart()
    await start('redis-again')
    await client.waitForEvents(3)
    const ids = client.events.map(({ data }) => (data as { saga_id: string }).saga_id)
    expect(ids).toEqual(['with-redis', 'without-redis', 'redis-again'])
  })
})

describe('limits', () => {
  it('more clients than allowed are refused with 503, and a client that disconnects makes room', async () => {
    const small = await startService(harness.databaseUrl, {
      SAGA_STREAMS_MAX: '2',
      SAGA_STREAMS_PER_TOKEN_MAX: '3',
      SAGA_STREAMS_PER_ADDRESS_MAX: '3',
    })
    try {
      const first = await stream('', reader(), small.baseUrl)
      await stream('', reader(), small.baseUrl)
      expect((await stream('', reader(), small.baseUrl)).response.status).toBe(503)
      await first.close()
      await waitFor(async () => (await stream('', reader(), small.baseUrl)).response.status === 200)
    } finally {
      await small.close()
    }
  })

  it('one token, or one address, is refused with 429 beyond its share, which leaves room for others', async () => {
    const small = await startService(harness.databaseUrl, {
      SAGA_STREAMS_MAX: '10',
      SAGA_STREAMS_PER_TOKEN_MAX: '2',
      SAGA_STREAMS_PER_ADDRESS_MAX: '3',
    })
    const open = (token: string, address: string) =>
      stream('', { 'PRIVATE-TOKEN': token, 'X-Forwarded-For': address }, small.baseUrl)
    try {
      const first = await open(tokens.reader, '203.0.113.1')
      await open(tokens.reader, '203.0.113.2')
      const ofToken = (await open(tokens.reader, '203.0.113.3')).response
      expect(ofToken.status).toBe(429)
      expect(Number(ofToken.headers.get('Retry-After'))).toBeGreaterThan(0)
      for (let index = 0; index < 2; index += 1)
        expect((await open(tokens.administrator, '203.0.113.1')).response.status).toBe(200)
      const { secret } = await createToken(harness.database, await createUser(harness.database), {
        scopes: ['read_sagas'],
      })
      expect((await open(secret, '203.0.113.1')).response.status).toBe(429)
      expect((await open(secret, '203.0.113.4')).response.status).toBe(200)
      await first.close()
      await waitFor(async () => (await open(tokens.reader, '203.0.113.5')).response.status === 200)
    } finally {
      await small.close()
    }
  })

  it('a client that does not read is disconnected, and others do not wait for it', async () => {
    const small = await startService(harness.databaseUrl, { SAGA_STREAM_STALL_MS_MAX: '500' })
    try {
      const before = await appendEntry(harness.database.pool)
      const ids = Array.from({ length: 20_000 }, (_, n) => `slow-${n}-${'x'.repeat(200)}`)
      const socket = connect(small.port, '127.0.0.1')
      await once(socket, 'connect')
      const request = `GET /api/v4/sagas/stream?last_event_id=${before} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${tokens.reader}\r\n\r\n`
      const positions = await appendEntries(harness.database, ids)
      socket.pause()
      socket.write(request)
      const cut = waitFor(async () => (await gaugeOf({ ...harness, metrics: small.metrics })) === 0)
      await waitFor(async () => (await gaugeOf({ ...harness, metrics: small.metrics })) === 1)
      const reading = await stream(`?last_event_id=${before}`)
      await waitFor(() => reading.sequences().length === positions.length)
      expect(reading.sequences()).toEqual(positions)
      await cut
      socket.destroy()
    } finally {
      await small.close()
    }
  })
})

describe('stopping', () => {
  it('ends open streams cleanly, and does not wait for them', async () => {
    const stopping = await startService(harness.databaseUrl, { SHUTDOWN_TIMEOUT_MS: '10000' })
    const client = await stream('', reader(), stopping.baseUrl)
    const beginMs = Date.now()
    await stopping.close()
    expect(Date.now() - beginMs).toBeLessThan(5000)
    await waitFor(client.hasEnded)
    expect(client.events.at(-1)).toMatchObject({
      event: 'close',
      data: { message: '503 Service Unavailable' },
    })
  })
})
