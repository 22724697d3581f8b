import { request as httpRequest } from 'node:http'
import { notFound } from '@switchyard/domain'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createAuthenticator,
  createHttpApp,
  endpoint,
  type HttpServer,
  hashToken,
  listen,
  ok,
  pageParameters,
  pageReply,
  proseCharsMax,
  type Route,
  refusingUnknown,
  route,
  rowsOf,
  signedIn,
  text,
} from '../../src/http/index.js'
import { createServiceContext, type ServiceContext } from '../../src/lifecycle/index.js'

const echo = endpoint({
  input: z.object({
    id: text().optional(),
    note: text(proseCharsMax).optional(),
    list: z.unknown().optional(),
  }),
  handle: async (input) => ok(input),
})

const letters = endpoint({
  input: z.object({ ...pageParameters, order: text().optional(), filter: text().optional() }),
  handle: async (page, _access, call) => {
    const all = [...'abcdefghijklmnopqrstuvwxyz']
    const { skip, take } = rowsOf(page)
    return pageReply(all.slice(skip, skip + take), page, page.filter === 'long' ? null : all.length, call)
  },
})

/** Ticks of the event loop in which items of a long list were serialized. */
const ticks = new Set<number>()
const longList = Array.from({ length: 60 }, (_each, index) => ({ index, text: 'ü"\n'.repeat(20_000) }))
const long = endpoint({
  input: z.object({}),
  handle: async () => {
    let tick = 0
    const count = () => {
      tick += 1
      if (tick < 1000) setImmediate(count)
    }
    count()
    const written = (item: object) => {
      ticks.add(tick)
      return item
    }
    return ok(longList.map((item) => ({ toJSON: () => written(item) })))
  },
})

const crash = endpoint({
  input: z.object({}),
  handle: async () => {
    throw new Error('secret internals')
  },
})

const anyone = () => null
const routes: Route[] = [
  route('GET', '/echo/:id', anyone, echo),
  route('POST', '/echo', anyone, echo),
  route('GET', '/groups/:id/letters', anyone, letters),
  ...refusingUnknown([route('GET', '/own/:id/letters', anyone, letters)]),
  route('GET', '/long', anyone, long),
  route('GET', '/crash', anyone, crash),
  route('GET', '/mine', signedIn, echo),
  route(
    'GET',
    '/hidden',
    () => {
      throw notFound('Project')
    },
    endpoint({ input: z.object({ never: text() }), handle: async () => ok(null) }),
  ),
]

const good = {
  user: { id: 1, username: 'amy', name: 'Amy', email: 'amy@example.com', admin: false, state: 'active' },
  token: { id: 1, scopes: ['read_api'] as const },
}

let context: ServiceContext
let server: HttpServer
let base: string

beforeAll(async () => {
  context = createServiceContext('demo', 'silent')
  const app = createHttpApp({
    ...context,
    routes,
    authenticate: createAuthenticator(async (hash) =>
      Buffer.from(hash).equals(Buffer.from(hashToken('good'))) ? good : null,
    ).authenticate,
    rateLimitPerMinute: 0,
  })
  server = await listen(app, '127.0.0.1', 0, 1000)
  base = `http://127.0.0.1:${server.port}/api/v4`
})

afterAll(() => server.close())

const post = (body: string | FormData, type?: string) =>
  fetch(`${base}/echo?note=query`, { method: 'POST', body, headers: type ? { 'Content-Type': type } : {} })

it('decodes path parameters with slashes and dots', async () => {
  const response = await fetch(`${base}/echo/group%2Fsub.name%2Fx.git`)
  expect(await response.json()).toEqual({ id: 'group/sub.name/x.git' })
})

it('reads JSON, urlencoded and multipart bodies, over the query', async () => {
  const form = new FormData()
  form.set('note', 'form')
  expect(await (await post('{"note":"json"}', 'application/json')).json()).toEqual({ note: 'json' })
  expect(await (await post('note=a+b', 'application/x-www-form-urlencoded')).json()).toEqual({ note: 'a b' })
  expect(await (await post(form)).json()).toEqual({ note: 'form' })
  expect(await (await post('[1]', 'application/json')).json()).toEqual({ note: 'query' })
  const nested = await post('list[][a]=1&list[][b]=2', 'application/x-www-form-urlencoded')
  expect(await nested.json()).toMatchObject({ list: expect.anything() })
})

it('refuses an unreadable body with a documented answer', async () => {
  const file = new FormData()
  file.set('note', new Blob(['x']), 'note.txt')
  const cases = [
    { response: await post('{', 'application/json'), status: 400 },
    { response: await post('<a/>', 'application/xml'), status: 415 },
    { response: await post(file), status: 400 },
    { response: await post('x', 'multipart/form-data'), status: 400 },
    { response: await post(JSON.stringify({ note: 'x'.repeat(2 ** 20) }), 'application/json'), status: 413 },
    { response: await post(`note=${'x'.repeat(2 ** 20)}`, 'application/x-www-form-urlencoded'), status: 413 },
    { response: await post('{"note":"\\u0000"}', 'application/json'), status: 400 },
    { response: await fetch(`${base}/echo/%00`), status: 400 },
    { response: await fetch(`${base}/echo/%zz`), status: 400 },
  ]
  for (const { response, status } of cases) {
    const body = (await response.json()) as Record<string, unknown>
    expect({ status: response.status, url: response.url }).toEqual({ status, url: response.url })
    expect(body.request_id).toBe(response.headers.get('X-Request-Id'))
    expect(typeof (body.error ?? body.message)).toBe('string')
  }
})

it('answers an unknown path with 404, and a wrong method with 405 and the allowed methods', async () => {
  const unknown = await fetch(`${base}/nowhere`)
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({ error: '404 Not Found' })
  const wrong = await fetch(`${base}/echo/1`, { method: 'DELETE' })
  expect([wrong.status, wrong.headers.get('Allow')]).toEqual([405, 'HEAD, GET'])
  expect(await wrong.json()).toMatchObject({ error: '405 Not Allowed' })
})

it('reads parameters from a long query', async () => {
  const note = 'ü'.repeat(8000)
  const response = await fetch(`${base}/echo?note=${encodeURIComponent(note)}`, { method: 'POST' })
  expect([response.status, await response.json()]).toEqual([200, { note }])
})

it('sends all seven pagination headers, links with every parameter sorted', async () => {
  const response = await fetch(`${base}/groups/a%2Fb/letters?page=2&per_page=10&order=up&z=1`)
  expect(await response.json()).toEqual([...'klmnopqrst'])
  const headers = Object.fromEntries(response.headers)
  expect(headers).toMatchObject({
    'x-total': '26',
    'x-total-pages': '3',
    'x-page': '2',
    'x-per-page': '10',
    'x-next-page': '3',
    'x-prev-page': '1',
  })
  expect(headers.link).toContain(
    `<${base}/groups/a%2Fb/letters?id=a%2Fb&order=up&page=3&per_page=10>; rel="next"`,
  )
})

it.each([
  'private_token=glpat-a&private_token=glpat-b',
  'PRIVATE-TOKEN=glpat-a',
  'private_token[]=glpat-a&private_token%5B%5D=glpat-b',
  'Private%5FToken=glpat-a&p%72ivate-token=glpat-b',
  'access_token[x][y]=glpat-a&job%5Ftoken=glpat-b',
  'token=glpat-a&authorization=Bearer+glpat-b&api_key=glpat-c',
  'glpat-a&glpat-b=1',
])('repeats no token of the query in links: %s', async (tokens) => {
  const response = await fetch(`${base}/groups/1/letters?per_page=10&${tokens}&order=up`)
  const links = response.headers.get('Link') ?? ''
  expect(links).toContain('/groups/1/letters?id=1&order=up&page=2&per_page=10>; rel="next"')
  expect(links).not.toMatch(/token|glpat/i)
})

it('ignores an unknown parameter, unless the route refuses it', async () => {
  expect((await fetch(`${base}/groups/1/letters?id_contains=x`)).status).toBe(200)
  const refused = await fetch(`${base}/own/1/letters?id_contains=x&${'y'.repeat(300)}=1&order=up`)
  expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
    400,
    `id_contains is not a parameter, ${'y'.repeat(199)}… is not a parameter`,
  ])
})

it('treats an empty parameter as left out, even an unknown one of a route that refuses those', async () => {
  const empty = await fetch(`${base}/own/1/letters?id_contains=&order=&x[]=&per_page=1`)
  expect([empty.status, await empty.json()]).toEqual([200, ['a']])
})

it('refuses a long path value that only the guard reads', async () => {
  const answer = await fetch(`${base}/groups/${'x'.repeat(5000)}/letters`)
  expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
    400,
    'id is too long (maximum is 4096 characters)',
  ])
})

it('leaves out links that would exceed the header limit of proxies', async () => {
  const long = 'x'.repeat(4000)
  const response = await fetch(`${base}/groups/1/letters?per_page=10&order=${long}&filter=${long}`)
  expect([response.status, response.headers.get('Link'), response.headers.get('X-Next-Page')]).toEqual([
    200,
    null,
    '2',
  ])
})

it('has no headers about the end of a list too long to count, and ends it at a page that is not full', async () => {
  const headersOf = async (page: number) =>
    (await fetch(`${base}/groups/1/letters?filter=long&per_page=10&page=${page}`)).headers
  const [second, third] = [await headersOf(2), await headersOf(3)]
  for (const name of ['x-total', 'x-total-pages']) expect(second.get(name)).toBeNull()
  expect(second.get('link')?.match(/(?<=rel=")\w+/g)).toEqual(['prev', 'next', 'first'])
  expect([second.get('x-next-page'), third.get('x-next-page')]).toEqual(['3', ''])
})

it('sends an empty header for an absent neighbour, and caps a page at 100', async () => {
  const response = await fetch(`${base}/groups/1/letters?per_page=1000`)
  expect(response.headers.get('X-Next-Page')).toBe('')
  expect(response.headers.get('X-Prev-Page')).toBe('')
  expect(response.headers.get('X-Per-Page')).toBe('100')
})

it.each(['page=0', 'page=-1', 'per_page=0'])('refuses %s', async (query) => {
  const response = await fetch(`${base}/groups/1/letters?${query}`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: `${query.split('=')[0]} does not have a valid value`,
  })
})

it('answers 304 when the client has the current version', async () => {
  const first = await fetch(`${base}/echo/1`)
  const etag = first.headers.get('ETag') ?? ''
  const raw = await new Promise<number | undefined>((resolve, reject) => {
    httpRequest(`${base}/echo/1`, { headers: { 'If-None-Match': etag } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect([etag.length > 0, raw]).toEqual([true, 304])
})

it('answers 304 to fetch clients too, which ask caches on the way for a fresh copy', async () => {
  const etag = (await fetch(`${base}/echo/1`)).headers.get('ETag') ?? ''
  const again = await fetch(`${base}/echo/1`, { headers: { 'If-None-Match': etag } })
  expect([etag.length > 0, again.status]).toEqual([true, 304])
})

it('serializes a long list in many ticks, completely, with its length and an ETag', async () => {
  const whole = await fetch(`${base}/long`)
  const bytes = Buffer.from(await whole.arrayBuffer())
  expect(JSON.parse(bytes.toString())).toEqual(longList)
  expect(ticks.size).toBeGreaterThan(10)
  expect(whole.headers.get('Content-Type')).toBe('application/json')
  expect(whole.headers.get('Content-Length')).toBe(String(bytes.length))
  const etag = whole.headers.get('ETag') ?? ''
  const head = await fetch(`${base}/long`, { method: 'HEAD' })
  expect([head.headers.get('ETag'), await head.text()]).toEqual([etag, ''])
  expect((await fetch(`${base}/long`, { headers: { 'If-None-Match': etag } })).status).toBe(304)
})

it('requires a valid token, in either header and never in the query', async () => {
  const withHeaders = (headers: Record<string, string>) => fetch(`${base}/mine`, { headers })
  expect((await withHeaders({})).status).toBe(401)
  expect((await withHeaders({ 'PRIVATE-TOKEN': 'bad' })).status).toBe(401)
  expect((await fetch(`${base}/mine?private_token=good`)).status).toBe(401)
  expect((await withHeaders({ 'PRIVATE-TOKEN': 'good' })).status).toBe(200)
  expect((await withHeaders({ Authorization: 'Bearer good' })).status).toBe(200)
})

it('lets the guard refuse before parameters are read', async () => {
  const response = await fetch(`${base}/hidden`)
  expect(response.status).toBe(404)
})

it('reveals only the request id of a failure, and takes that id from the caller', async () => {
  const response = await fetch(`${base}/crash`, { headers: { 'X-Request-Id': 'abc-1' } })
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({ message: '500 Internal Server Error', request_id: 'abc-1' })
})

it('names the failing part when it is not ready', async () => {
  const origin = new URL(base).origin
  expect((await fetch(`${origin}/-/readiness`)).status).toBe(200)
  context.health.addCheck('postgres', async () => {
    throw new Error('connection refused')
  })
  const response = await fetch(`${origin}/-/readiness`)
  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({ status: 'failed', checks: { postgres: 'connection refused' } })
  expect((await fetch(`${origin}/-/liveness`)).status).toBe(200)
})

it('counts requests by route pattern, so that ids never become labels', async () => {
  await fetch(`${base}/echo/some-id`)
  const metrics = await (await fetch(`${new URL(base).origin}/metrics`)).text()
  expect(metrics).toMatch(/http_requests_total\{method="GET",route="\/api\/v4\/echo\/:id",status="200"/)
  expect(metrics).not.toContain('some-id')
})

it('limits requests per token and sends the time until the next one', async () => {
  const limited = await listen(
    createHttpApp({
      ...createServiceContext('demo', 'silent'),
      routes,
      authenticate: async () => good,
      rateLimitPerMinute: 2,
    }),
    '127.0.0.1',
    0,
    1000,
  )
  const ask = (token: string) =>
    fetch(`http://127.0.0.1:${limited.port}/api/v4/mine`, { headers: { 'PRIVATE-TOKEN': token } })
  expect([(await ask('a')).status, (await ask('a')).status]).toEqual([200, 200])
  const refused = await ask('a')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(refused.headers.get('RateLimit-Remaining')).toBe('0')
  expect((await ask('b')).status).toBe(200)
  await limited.close()
})

it('refuses an address that sends random tokens, but accepts valid tokens from it', async () => {
  const limited = await listen(
    createHttpApp({
      ...createServiceContext('demo', 'silent'),
      routes,
      authenticate: async (secret) => (secret === 'good' ? good : null),
      rateLimitPerMinute: 6000,
    }),
    '127.0.0.1',
    0,
    1000,
  )
  const ask = (token: string, headers = {}) =>
    fetch(`http://127.0.0.1:${limited.port}/api/v4/mine`, { headers: { 'PRIVATE-TOKEN': token, ...headers } })
  for (let index = 0; index < 60; index += 1) expect((await ask(`random-${index}`)).status).toBe(401)
  const refused = await ask('random-60')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({
    message: { error: expect.stringContaining('too many times') },
  })
  expect((await ask('good')).status).toBe(200)
  expect((await ask('random-61', { 'X-Forwarded-For': '203.0.113.7' })).status).toBe(401)
  await limited.close()
})

it('lets an active request finish when it closes', async () => {
  const slow = endpoint({
    input: z.object({}),
    handle: async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return ok('done')
    },
  })
  const app = createHttpApp({
    ...createServiceContext('demo', 'silent'),
    routes: [route('GET', '/slow', anyone, slow)],
    authenticate: async () => null,
    rateLimitPerMinute: 0,
  })
  const other = await listen(app, '127.0.0.1', 0, 5000)
  const answer = fetch(`http://127.0.0.1:${other.port}/api/v4/slow`).then((response) => response.text())
  await new Promise((resolve) => setTimeout(resolve, 50))
  await other.close()
  expect(await answer).toBe('"done"')
})
