import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  anyone,
  createHttpApp,
  endpoint,
  type HttpServer,
  listen,
  ok,
  route,
  text,
} from '../../src/http/index.js'
import { createServiceContext } from '../../src/lifecycle/index.js'

const origin = 'https://console.example.com'
const echo = endpoint({
  input: z.object({ id: text() }),
  handle: async ({ id }, _access, call) => ok({ id, url: call.raw.request.originalUrl }),
})

const callers = {
  admin: { admin: true, scopes: ['api'] as const },
  scraper: { admin: false, scopes: ['read_metrics'] as const },
  user: { admin: false, scopes: ['api'] as const },
}
const isCaller = (secret: string): secret is keyof typeof callers => secret in callers

/** Starts a service with one route. The secret of a token is the name of its holder. */
function start(corsAllowedOrigins?: string[]): Promise<HttpServer> {
  const app = createHttpApp({
    ...createServiceContext('demo', 'silent'),
    routes: [route('GET', '/echo/:id', anyone, echo)],
    authenticate: async (secret) => {
      if (!isCaller(secret)) return null
      const { admin, scopes } = callers[secret]
      const user = { id: 1, username: secret, name: secret, email: 'x@example.com', admin, state: 'active' }
      return { user, token: { id: 1, scopes } }
    },
    rateLimitPerMinute: 100,
    corsAllowedOrigins,
  })
  return listen(app, '127.0.0.1', 0, 1000)
}

let closed: HttpServer
let open: HttpServer
beforeAll(async () => {
  closed = await start()
  open = await start([origin, 'http://localhost:5173'])
})
afterAll(async () => {
  await closed.close()
  await open.close()
})

const ask = (server: HttpServer, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init)

const preflight = (server: HttpServer, from: string, path = '/api/v4/echo/1') =>
  ask(server, path, {
    method: 'OPTIONS',
    headers: {
      Origin: from,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'private-token',
    },
  })

describe('a page of an allowed origin', () => {
  it('receives the allowed methods and headers by a preflight', async () => {
    const response = await preflight(open, origin)
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
      'access-control-allow-headers': expect.stringMatching(
        /^PRIVATE-TOKEN,Authorization,Content-Type,X-Request-Id,/,
      ),
      'access-control-max-age': '600',
      vary: expect.stringContaining('Origin'),
    })
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it.each([
    ['/api/v4/echo/1', 200],
    ['/api/v4/nothing', 404],
  ])('reads the answer of %s (%i) and the headers of pages and limits', async (path, status) => {
    const response = await ask(open, path, { headers: { Origin: origin } })
    expect(response.status).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(
      expect.arrayContaining(['Link', 'X-Total', 'X-Next-Page', 'RateLimit-Remaining', 'X-Request-Id']),
    )
    expect(response.headers.get('vary')).toContain('Origin')
  })

  it('keeps the other headers by which an answer varies', async () => {
    const response = await ask(open, '/api/v4/echo/1', { headers: { Origin: origin } })
    expect(response.headers.get('vary')).toBe('Origin, Accept-Encoding, PRIVATE-TOKEN, Authorization, Cookie')
  })
})

describe('a page of another origin', () => {
  it.each(['https://console.example.com.evil.example', 'http://console.example.com', 'null'])(
    'receives no permission: %s',
    async (from) => {
      const response = await preflight(open, from)
      expect(response.status).toBe(405)
      expect(response.headers.has('access-control-allow-origin')).toBe(false)
      expect(response.headers.get('vary')).toContain('Origin')
    },
  )

  it('is refused by a service that names no origins', async () => {
    expect((await preflight(closed, origin)).status).toBe(405)
    const response = await ask(closed, '/api/v4/echo/1', { headers: { Origin: origin } })
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('slashes in a row', () => {
  it.each([
    ['//api/v4/echo/1', '/api/v4/echo/1', '1'],
    ['/api///v4//echo/a%2F%2Fb?x=//', '/api/v4/echo/a%2F%2Fb?x=//', 'a//b'],
  ])('%s is answered as %s', async (path, url, id) => {
    const response = await ask(closed, path)
    expect(await response.json()).toEqual({ id, url })
  })
})

describe('GET /-/metrics', () => {
  it.each([
    ['an administrator', 'admin', 200],
    ['a token with the scope read_metrics', 'scraper', 200],
    ['any other user', 'user', 403],
    ['an unknown token', 'nobody', 401],
    ['no token', null, 401],
  ])('for %s', async (_who, token, status) => {
    const response = await ask(closed, '/-/metrics', { headers: token ? { 'PRIVATE-TOKEN': token } : {} })
    expect(response.status).toBe(status)
    expect((await response.text()).includes('# HELP')).toBe(status === 200)
  })

  it('serves the same metrics as /metrics inside the network', async () => {
    const inside = await ask(closed, '/metrics')
    const outside = await ask(closed, '/-/metrics', { headers: { 'PRIVATE-TOKEN': 'admin' } })
    expect(outside.headers.get('content-type')).toBe(inside.headers.get('content-type'))
  })
})
