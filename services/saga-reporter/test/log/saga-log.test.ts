import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportAll } from '../grpc-client.js'
import { createTokens, startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string
const html = '<script>alert(1)</script>'
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const json = '{"seat": 12345678901234567890}'

beforeAll(async () => {
  harness = await startHarness({ SWITCHYARD_TRACE_URL: 'https://tempo.example.com/trace/{trace_id}' })
  token = (await createTokens(harness.database)).reader
  await reportAll(harness.grpc, [
    ['SagaStarted', { sagaId: 'order/1', serviceName: 'booking' }],
    [
      'ActivityExecuteStarted',
      { activityId: 'a/1', sagaId: 'order/1', order: 0, parameterData: Buffer.from(json) },
    ],
    ['ActivityRetried', { activityId: 'a/1', retries: 1, status: 'Executing' }],
    ['ActivityEnded', { activityId: 'a/1', resultData: Buffer.from(html) }],
    [
      'ActivityExecuteStarted',
      { activityId: 'a/2', sagaId: 'order/1', order: 1, parameterData: Buffer.from([0, 255]) },
    ],
    ['ActivityExecuteAborted', { activityId: 'a/2', errors: 'e'.repeat(10_000) }],
    ['ActivityRevoked', { activityId: 'nobodys-1' }],
    ['ActivityRevoked', { activityId: 'nobodys-2' }],
  ])
  await harness.grpc.report(
    'SagaEnded',
    { sagaId: 'order/1' },
    { metadata: { 'x-event-id': 'the-end', traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } },
  )
})
afterAll(() => harness.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${harness.baseUrl}/api/v4/sagas${path}`, { headers: { 'PRIVATE-TOKEN': token, ...headers } })

const saga = `/${encodeURIComponent('order/1')}`

describe('GET /sagas/:id/events', () => {
  interface Event {
    seq: number
    operation: string
  }
  const read = async (url: string) => {
    const response = await get(url)
    expect(response.status).toBe(200)
    return { events: (await response.json()) as Event[], headers: response.headers }
  }

  it("links an event to its trace in the installation's trace viewer", async () => {
    const { events } = await read(`${saga}/events`)
    expect(events.at(-1)).toMatchObject({ trace_url: `https://tempo.example.com/trace/${traceId}` })
    expect(events[0]).toMatchObject({ trace_parent: null, trace_url: null })
  })

  it('shows the log in order, with requests that omit the bytes of payloads', async () => {
    const { events, headers } = await read(`${saga}/events`)
    expect(events.map(({ operation }) => operation)).toEqual([
      'SagaStarted',
      'ActivityExecuteStarted',
      'ActivityRetried',
      'ActivityEnded',
      'ActivityExecuteStarted',
      'ActivityExecuteAborted',
      'SagaEnded',
    ])
    expect(headers.has('Link')).toBe(false)
    expect(events[1]).toMatchObject({
      seq: expect.any(Number),
      result: 'recorded',
      activity_id: 'a/1',
      event_id: null,
      event_time: null,
      received_at: expect.stringMatching(/Z$/),
      request_size: expect.any(Number),
      request: {
        activity_id: 'a/1',
        saga_id: 'order/1',
        order: 0,
        time_out_seconds: 0,
        parameter_size: json.length,
      },
    })
    expect(events[1]).not.toHaveProperty('request.parameter_data')
    expect(events[5]).toMatchObject({ request: { errors: 'e'.repeat(4096) } })
    expect(events[6]).toMatchObject({ event_id: 'the-end', activity_id: null })
  })

  it('is paged by position', async () => {
    const { events: all } = await read(`${saga}/events`)
    const found: Event[] = []
    for (let url: string | null = `${saga}/events?per_page=3`; url !== null; ) {
      const { events, headers }: Awaited<ReturnType<typeof read>> = await read(url)
      found.push(...events)
      const link = /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
      url = link === undefined ? null : link.slice(link.indexOf(saga))
    }
    expect(found).toEqual(all)
    expect((await read(`${saga}/events?after=${all.at(-1)?.seq}`)).events).toEqual([])
  })

  it('answers 404 for an unknown saga and 400 for a bad position', async () => {
    expect((await get('/none/events')).status).toBe(404)
    expect((await get(`${saga}/events?tenant=acme`)).status).toBe(404)
    const bad = await get(`${saga}/events?after=-1`)
    expect(bad.status).toBe(400)
    expect(await bad.json()).toMatchObject({ error: 'after does not have a valid value' })
  })
})

describe('GET /sagas/:id/activities/:activity_id/payloads/:kind', () => {
  const payload = (activity: string, kind: string, headers?: Record<string, string>) =>
    get(`${saga}/activities/${encodeURIComponent(activity)}/payloads/${kind}`, headers)

  it('returns the bytes as reported', async () => {
    const response = await payload('a/1', 'parameter')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(json)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="parameter-a_1.json"')
    expect(response.headers.get('X-Payload-Truncated')).toBe('false')
    const binary = await payload('a/2', 'parameter')
    expect(Buffer.from(await binary.arrayBuffer())).toEqual(Buffer.from([0, 255]))
    expect(binary.headers.get('Content-Type')).toBe('application/octet-stream')
  })

  it('is never displayed as a page by a browser, whatever was reported', async () => {
    const response = await payload('a/1', 'result')
    expect(await response.text()).toBe(html)
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.get('Content-Disposition')).toMatch(/^attachment; /)
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; sandbox; frame-ancestors 'none'",
    )
  })

  it('has its digest as ETag', async () => {
    const etag = `"${createHash('sha256').update(html).digest('hex')}"`
    expect((await payload('a/1', 'result')).headers.get('ETag')).toBe(etag)
    expect((await payload('a/1', 'result', { 'If-None-Match': etag })).status).toBe(304)
  })

  it('shows when only its head, or nothing, is stored', async () => {
    const whole = { resultSize: 900, resultSha256: Buffer.alloc(32, 7) }
    const where = { tenant_id: { tenant: 'default', id: 'a/2' } }
    const { sagaActivity } = harness.database.prisma
    await sagaActivity.update({ where, data: { ...whole, resultData: Buffer.from('{"a":') } })
    const response = await payload('a/2', 'result')
    expect(await response.text()).toBe('{"a":')
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('X-Payload-Truncated')).toBe('true')
    expect(response.headers.get('X-Payload-Size')).toBe('900')
    expect(response.headers.get('ETag')).toBe(`"${'07'.repeat(32)}-5"`)

    await sagaActivity.update({ where, data: { resultData: Buffer.alloc(0) } })
    const nothing = await payload('a/2', 'result')
    expect(nothing.status).toBe(404)
    expect(await nothing.json()).toMatchObject({ reason: 'not stored: too large', size: 900 })
  })

  it('answers 404 for missing payloads and 400 for impossible ones', async () => {
    expect((await payload('a/3', 'parameter')).status).toBe(404)
    expect((await get('/other/activities/a%2F1/payloads/parameter')).status).toBe(404)
    const response = await payload('a/1', 'errors')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'kind does not have a valid value' })
  })
})

describe('GET /sagas/parked_activities', () => {
  it('lists activities without a known saga, newest first, in pages', async () => {
    const response = await get('/parked_activities?per_page=1')
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject([{ activity_id: 'nobodys-2', status: 'Revoked' }])
    const next = await get(`/parked_activities?per_page=1&cursor=${response.headers.get('X-Next-Cursor')}`)
    expect(await next.json()).toMatchObject([{ activity_id: 'nobodys-1' }])
    expect(next.headers.has('Link')).toBe(false)
    expect(await (await get('/parked_activities?tenant=acme')).json()).toEqual([])
  })

  it('answers 400 for a bad cursor', async () => {
    expect((await get('/parked_activities?cursor=x')).status).toBe(400)
  })
})
