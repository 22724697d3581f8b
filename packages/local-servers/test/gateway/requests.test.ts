import { expect, it } from 'vitest'
import { bodyOf, startGatewayForEach } from './gateway-harness.js'

const gateway = startGatewayForEach()

it.each([
  '/api/v4/projects/a%2Fb/repository/commits/feature%2Fx?path=a%20b&x=%00',
  '//a///b/../%2e%2e/c',
  '/x?a?b&&=',
])('forwards the target byte for byte: %s', async (path) => {
  const text = await gateway.sendBytes(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  expect(bodyOf(text).url).toBe(path)
})

it.each([
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
  ['the same host twice', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\nConnection: close\r\n\r\n', 400],
  ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an empty host', 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 400],
  ['a host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 400],
  ['a host with a user', 'GET / HTTP/1.1\r\nHost: u@a\r\nConnection: close\r\n\r\n', 400],
  ['a target with a user', 'GET http://u@a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['a target of another protocol', 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['a target that is a star', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
  ['an unknown encoding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 400],
  [
    'a DELETE in chunks, of which the proxy would forget the length',
    'DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    411,
  ],
  ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417],
])('refuses %s with JSON, before any service receives it', async (_what, bytes, status) => {
  const arrived: (string | undefined)[] = []
  gateway.answer = (incoming, response) => {
    arrived.push(incoming.url)
    response.end()
  }
  const text = await gateway.sendBytes(bytes)
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(text).toMatch(/^content-type: application\/json\r$/im)
  expect(Object.values(bodyOf(text))).toEqual([expect.stringMatching(`^${status} `), expect.any(String)])
  expect(arrived).toEqual([])
})

it.each([
  ['http://other.example:81/a?b=//', '/a?b=//'],
  ['HTTP://other.example:81', '/'],
  ['http://other.example:81?x', '/?x'],
])('accepts the target %s, and its host as the host', async (target, url) => {
  const text = await gateway.sendBytes(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  expect(bodyOf(text)).toMatchObject({ url, headers: { 'x-forwarded-host': 'other.example:81' } })
})

it('ends a connection with 408 when its headers do not arrive', async () => {
  const text = await gateway.sendBytes('GET / HTTP/1.1\r\nHost: x\r\n')
  expect(text).toMatch(/^HTTP\/1.1 408 /)
  expect(bodyOf(text)).toMatchObject({ message: '408 Request Timeout' })
})

it('trusts only trusted proxies about the address of their client', async () => {
  const seen = async (forwarded: string) => {
    const response = await fetch(gateway.url('/'), { headers: { 'X-Forwarded-For': forwarded } })
    const { headers } = (await response.json()) as { headers: Record<string, string> }
    return [headers['x-forwarded-for'], headers['x-real-ip']]
  }
  expect(await seen('203.0.113.5')).toEqual(['127.0.0.1', '127.0.0.1'])
  gateway.trusted = ['127.0.0.1', '192.0.2.7']
  expect(await seen('6.6.6.6, 203.0.113.5, 192.0.2.7')).toEqual(['203.0.113.5', '203.0.113.5'])
})

it('overwrites the headers of a client about its origin, and keeps a sensible request id', async () => {
  const spoofed = { Forwarded: 'for=6.6.6.6', 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https' }
  const response = await fetch(gateway.url('/'), { headers: { ...spoofed, 'X-Request-Id': 'abc-1' } })
  const { headers } = (await response.json()) as { headers: Record<string, string> }
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': `127.0.0.1:${gateway.port}`,
    'x-request-id': 'abc-1',
  })
  expect(headers).not.toHaveProperty('forwarded')
})

it.each([
  ['/down/x', 502, { message: '502 Bad Gateway' }],
  ['/metrics', 404, { error: '404 Not Found' }],
])(
  'answers %s itself with %i, the request id and headers that keep browsers careful',
  async (path, status, body) => {
    const response = await fetch(gateway.url(path), { headers: { 'X-Request-Id': 'abc-2' } })
    expect(response.status).toBe(status)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': 'abc-2',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(await response.json()).toEqual({ ...body, request_id: 'abc-2' })
  },
)

it('removes headers about a connection in both directions, including those that Connection names', async () => {
  gateway.answer = (incoming, response) => {
    response.writeHead(200, {
      Connection: 'close, X-Hop',
      'Keep-Alive': 'timeout=1',
      'Proxy-Connection': 'close',
      'X-Hop': '1',
      'X-End': '2',
    })
    response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers }))
  }
  const headers = [
    'Keep-Alive: timeout=5',
    'Proxy-Connection: x',
    'TE: trailers',
    'Upgrade: h2c',
    'X-Own: 1',
    'X-Other: 2',
  ]
  const text = await gateway.sendBytes(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close, X-Own, Host, Content-Length, X-Forwarded-For\r\n${headers.join('\r\n')}\r\nContent-Length: 2\r\n\r\nab`,
  )
  const { headers: received } = bodyOf(text)
  expect(received).toMatchObject({
    host: 'x',
    connection: 'keep-alive',
    'content-length': '2',
    'x-other': '2',
    'x-forwarded-for': '127.0.0.1',
  })
  for (const name of ['keep-alive', 'proxy-connection', 'te', 'upgrade', 'x-own'])
    expect(received).not.toHaveProperty(name)
  const head = text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase()
  expect(head).toContain('x-end: 2')
  expect(head).toMatch(/^connection: close$/m)
  expect(head).not.toMatch(/^(keep-alive|proxy-connection|x-hop):/m)

  const kept = await fetch(gateway.url('/'))
  await kept.text()
  expect(kept.headers.get('connection')).toBe('keep-alive')
})

it('answers bytes that are not HTTP with 400', async () => {
  const text = await gateway.sendBytes('nonsense\r\n\r\n')
  expect(text).toMatch(/^HTTP\/1.1 400 /)
  expect(bodyOf(text)).toMatchObject({ error: '400 Bad Request' })
})

it('answers headers that are too large with 431', async () => {
  const text = await gateway.sendBytes(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`)
  expect(text).toMatch(/^HTTP\/1.1 431 /)
  expect(bodyOf(text)).toMatchObject({ message: '431 Request Header Fields Too Large' })
})
