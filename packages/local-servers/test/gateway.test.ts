import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningGateway, startGateway } from '../src/gateway/gateway.js'
import type { Route } from '../src/gateway/routing-table.js'

const routes: Route[] = [
  { match: 'prefix', path: '/metrics', service: null },
  { match: 'prefix', path: '/down', service: 'down' },
  { match: 'prefix', path: '/', service: 'up' },
]

let answer: (request: IncomingMessage, response: ServerResponse) => void
let upstream: Server
let gateway: RunningGateway

let trusted: string[] = []
beforeEach(async () => {
  upstream = createServer({ requestTimeout: 0 }, (incoming, response) => answer(incoming, response))
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    routes,
    trustsProxy: (address) => trusted.includes(address),
    portOf: (service) => (service === 'up' ? port : 1),
  })
})
afterEach(async () => {
  trusted = []
  await gateway.stop()
  upstream.closeAllConnections()
  upstream.close()
})

const url = (path: string) => `http://127.0.0.1:${gateway.port}${path}`

/** Sends bytes as they are, which ask for the connection to be closed, and returns the whole answer. */
async function sendBytes(bytes: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(bytes)
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += chunk
  return text
}

const echo = (incoming: IncomingMessage, response: ServerResponse) =>
  response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers }))

const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))

describe('the local gateway', () => {
  it.each([
    ['longer than', 'abcdef'],
    ['cut before', ''],
  ])('serves on after an answer that is %s its Content-Length', async (_what, sent) => {
    answer = ({ socket }) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${sent}`)
    for (let number = 0; number < 5; number += 1)
      await fetch(url('/x'))
        .then((got) => got.text())
        .catch(() => {})
    answer = echo
    expect((await fetch(url('/x'))).status).toBe(200)
  })

  it.each([
    '/api/v4/projects/a%2Fb/repository/commits/feature%2Fx?path=a%20b&x=%00',
    '//a///b/../%2e%2e/c',
    '/x?a?b&&=',
  ])('forwards the target byte for byte: %s', async (path) => {
    answer = echo
    const text = await sendBytes(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
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
    [
      'an unknown encoding',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a DELETE in chunks, of which the proxy would forget the length',
      'DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      411,
    ],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417],
  ])('refuses %s as JSON, and no service hears of it', async (_what, bytes, status) => {
    const arrived: (string | undefined)[] = []
    answer = (incoming, response) => {
      arrived.push(incoming.url)
      response.end()
    }
    const text = await sendBytes(bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toMatch(/^content-type: application\/json\r$/im)
    expect(Object.values(bodyOf(text))).toEqual([expect.stringMatching(`^${status} `), expect.any(String)])
    expect(arrived).toEqual([])
  })

  it.each([
    ['http://other.example:81/a?b=//', '/a?b=//'],
    ['HTTP://other.example:81', '/'],
    ['http://other.example:81?x', '/?x'],
  ])('takes the target %s, and its host for the host', async (target, url) => {
    answer = echo
    const text = await sendBytes(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(bodyOf(text)).toMatchObject({ url, headers: { 'x-forwarded-host': 'other.example:81' } })
  })

  it('ends a connection whose headers do not come, with 408', async () => {
    const text = await sendBytes('GET / HTTP/1.1\r\nHost: x\r\n')
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    expect(bodyOf(text)).toMatchObject({ message: '408 Request Timeout' })
  }, 60_000)

  it('believes trusted proxies about the address of their client, and nobody else', async () => {
    answer = echo
    const seen = async (forwarded: string) => {
      const response = await fetch(url('/'), { headers: { 'X-Forwarded-For': forwarded } })
      const { headers } = (await response.json()) as { headers: Record<string, string> }
      return [headers['x-forwarded-for'], headers['x-real-ip']]
    }
    expect(await seen('203.0.113.5')).toEqual(['127.0.0.1', '127.0.0.1'])
    trusted = ['127.0.0.1', '192.0.2.7']
    expect(await seen('6.6.6.6, 203.0.113.5, 192.0.2.7')).toEqual(['203.0.113.5', '203.0.113.5'])
  })

  it('overwrites what a client says about its origin, and keeps a sensible request id', async () => {
    answer = echo
    const spoofed = { Forwarded: 'for=6.6.6.6', 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https' }
    const response = await fetch(url('/'), { headers: { ...spoofed, 'X-Request-Id': 'abc-1' } })
    const { headers } = (await response.json()) as { headers: Record<string, string> }
    expect(headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': `127.0.0.1:${gateway.port}`,
      'x-request-id': 'abc-1',
    })
    expect(headers).not.toHaveProperty('forwarded')
  })

  it('streams both ways while a request goes on', async () => {
    answer = (incoming, response) => incoming.pipe(response)
    const call = request(url('/'), { method: 'POST' })
    call.write('one')
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    expect(String((await once(response, 'data'))[0])).toBe('one')
    call.write('two')
    expect(String((await once(response, 'data'))[0])).toBe('two')
    call.end()
    await once(response.resume(), 'end')
  })

  it('passes 300 MB on whole, without holding them', async () => {
    let received = 0
    answer = (incoming, response) => {
      incoming.on('data', (chunk: Buffer) => {
        received += chunk.length
      })
      incoming.once('end', () => response.end())
    }
    const before = process.memoryUsage.rss()
    const call = request(url('/'), { method: 'POST' })
    const chunk = Buffer.alloc(1024 * 1024)
    for (let sent = 0; sent < 300; sent++) if (!call.write(chunk)) await once(call, 'drain')
    call.end()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    response.resume()
    expect(received).toBe(300 * chunk.length)
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * chunk.length)
  })

  it('a client that goes away ends the request at the service', async () => {
    const closed = new Promise((resolve) => {
      answer = (_incoming, response) => {
        response.write('data: 1\n\n')
        response.once('close', resolve)
      }
    })
    const call = request(url('/'))
    call.on('error', () => {})
    call.end()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    await once(response, 'data')
    call.destroy()
    expect(await Promise.race([closed.then(() => 'closed'), delay(5000, 'open')])).toBe('closed')
  })

  it('a service that dies within its answer does not look complete', async () => {
    answer = (_incoming, response) => {
      response.writeHead(200, { 'Content-Length': 1000 })
      response.write('part', () => response.destroy())
    }
    const response = await fetch(url('/'))
    await expect(response.text()).rejects.toThrow()
  })

  it('a refusal before the body was sent reaches the client', async () => {
    answer = (_incoming, response) => response.writeHead(413, { Connection: 'close' }).end('too much')
    const text = await sendBytes(
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 500000\r\n\r\npart',
    )
    expect(text).toMatch(/^HTTP\/1.1 413 /)
  })

  it.each([
    ['/down/x', 502, { message: '502 Bad Gateway' }],
    ['/metrics', 404, { error: '404 Not Found' }],
  ])(
    'answers %s itself with %i, the request id and headers that keep browsers careful',
    async (path, status, body) => {
      const response = await fetch(url(path), { headers: { 'X-Request-Id': 'abc-2' } })
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

  it('a client that sends everything before it reads gets the answer that came earlier', async () => {
    answer = (_incoming, response) => response.writeHead(413).end('too much')
    const bytes = 32 * 1024 * 1024
    const socket = connect(gateway.port, '127.0.0.1')
    socket.pause()
    socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`)
    for (let sent = 0; sent < bytes; sent += 1024 * 1024)
      await new Promise((resolve) => socket.write(Buffer.alloc(1024 * 1024), resolve))
    const [head] = await once(socket.setEncoding('utf8').resume(), 'data')
    expect(head).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  })

  describe('a service that refuses a body before it has read it', () => {
    const bytes = 3 * 1024 * 1024
    /** Each prints a line an answer: its status, or the name of what went wrong. */
    const urllib = `
import sys, urllib.request, urllib.error
for _ in range(40):
    try:
        print(urllib.request.urlopen(sys.argv[1], data=b'x' * ${bytes}).status)
    except urllib.error.HTTPError as answer: print(answer.code, answer.read().decode())
    except Exception as problem: print(repr(problem))
`
    const httpClient = `
import sys, http.client, urllib.parse
address = urllib.parse.urlsplit(sys.argv[1])
for _ in range(40):
    connection = http.client.HTTPConnection(address.netloc)
    try:
        connection.request('POST', address.path, b'x' * ${bytes}, {'Connection': 'close'})
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())
    except Exception as problem: print(repr(problem))
    finally: connection.close()
`
    const curl = `head -c ${bytes} /dev/zero > "$2"; for i in $(seq 20); do
curl -sS -o - -w ' %{http_code}\\n' --data-binary @"$2" -H "$3" "$1" 2>&1; done`
    const answers = async (program: string, ...args: string[]) =>
      (await execa(program, args)).stdout.split('\n').map((line) => line.trim())

    beforeEach(() => {
      answer = (_incoming, response) =>
        response.writeHead(413, { 'Content-Type': 'text/plain', 'Content-Length': 8 }).end('too much')
    })

    it.each([
      ['urllib', urllib],
      ['http.client', httpClient],
    ])("has its answer seen by Python's %s, which closes its connections", async (_name, program) => {
      expect(await answers('python3', '-c', program, url('/x'))).toEqual(Array(40).fill('413 too much'))
    })

    it.each(['Connection: close', 'Connection: keep-alive', 'Expect:', 'Expect: 100-continue'])(
      'has its answer seen by curl with the header %s',
      async (header) => {
        const folder = await mkdtemp(join(tmpdir(), 'switchyard-body-'))
        const seen = await answers('sh', '-c', curl, 'sh', url('/x'), join(folder, 'body'), header)
        await rm(folder, { recursive: true })
        expect(seen).toEqual(Array(20).fill('too much 413'))
      },
    )

    it.each([
      ['/metrics', 404],
      ['/down/x', 502],
    ])('and so has the gateway: %s', async (path, status) => {
      const seen = await answers('python3', '-c', urllib, url(path))
      expect(seen.map((line) => line.slice(0, 3))).toEqual(Array(40).fill(String(status)))
    })
  })

  it('closes a connection once a client that wants that has sent its body', async () => {
    answer = (_incoming, response) => response.writeHead(413).end('too much')
    const socket = connect(gateway.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n')
    const [head] = await once(socket.setEncoding('utf8'), 'data')
    expect(head).toMatch(/^HTTP\/1.1 413 /)
    socket.resume()
    const closed = once(socket, 'close')
    socket.write('x'.repeat(1000))
    await closed
  })

  it('ends headers about a connection in both directions, and those that Connection names', async () => {
    answer = (incoming, response) => {
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
    const text = await sendBytes(
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

    const kept = await fetch(url('/'))
    await kept.text()
    expect(kept.headers.get('connection')).toBe('keep-alive')
  })

  it('a client that leaves with its answer before it has sent everything leaves no request behind', async () => {
    const closed = new Promise((resolve) => {
      answer = (incoming, response) => {
        incoming.socket.once('close', resolve)
        incoming.resume()
        response.writeHead(400).end('no')
      }
    })
    const sent = request(url('/push'), { method: 'POST', headers: { 'Content-Length': '1000000' } })
    sent.on('error', () => {})
    sent.write('some')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(400)
    sent.destroy()
    expect(await Promise.race([closed.then(() => 'closed'), delay(5000, 'open')])).toBe('closed')
  })

  it('answers what is no HTTP with 400', async () => {
    const text = await sendBytes('nonsense\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(bodyOf(text)).toMatchObject({ error: '400 Bad Request' })
  })

  it('answers headers that are too large with 431', async () => {
    const text = await sendBytes(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1.1 431 /)
    expect(bodyOf(text)).toMatchObject({ message: '431 Request Header Fields Too Large' })
  })
})
