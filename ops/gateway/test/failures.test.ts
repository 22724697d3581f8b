import { once } from 'node:events'
import { connect } from 'node:net'
import { type Client, type ServiceError, status } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway } from './support/gateway.js'
import { insecure } from './support/grpc.js'
import { rawRequest } from './support/raw-request.js'

let failing: Upstream
let gateway: Gateway

beforeAll(async () => {
  failing = await startUpstream((request, response) => {
    if (request.url === '/api/v4/cut') request.socket.destroy()
    else response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"message":"its own words"}')
  })
  gateway = await startGateway({ 'git-api': failing.port })
})
afterAll(async () => {
  await gateway?.stop()
  await failing?.close()
})

/** Sends bytes unchanged and returns the whole answer. */
async function sendBytes(bytes: string): Promise<string> {
  const socket = connect(gateway.httpPort, '127.0.0.1')
  await once(socket, 'connect')
  socket.end(bytes)
  let answer = ''
  for await (const chunk of socket.setEncoding('utf8')) answer += chunk
  return answer
}

describe('an answer of the gateway itself is JSON in the documented shape', () => {
  it.each([
    '/api/v4/sagas',
    '/api/v4/broadcast_messages',
    '/api/v4/jobqueue/job_stats',
    '/-/worker/readiness',
  ])('a service that is down: %s', async (path) => {
    const { status: code, headers, body } = await rawRequest(gateway.httpPort, path)
    expect(code).toBe(502)
    expect(headers['content-type']).toBe('application/json')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
    expect(JSON.parse(body)).toEqual({ message: '502 Bad Gateway', request_id: headers['x-request-id'] })
  })

  it('a service that dies during a request', async () => {
    const { status: code, body } = await rawRequest(gateway.httpPort, '/api/v4/cut')
    expect(code).toBe(502)
    expect(JSON.parse(body)).toMatchObject({ message: '502 Bad Gateway' })
  })

  it.each([
    ['a NUL byte in the path', 'GET /api/v4/a%00b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a path that leaves the root', 'GET /../x HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['a malformed host', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['an unknown encoding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n', 501],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['a path without end', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
  ])('%s', async (_name, bytes, code) => {
    const answer = await sendBytes(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${code} `))
    const [head, body] = answer.split('\r\n\r\n', 2) as [string, string]
    expect(head).toMatch(/^Content-Type: application\/json\r$/im)
    expect(Object.values(JSON.parse(body))).toEqual([expect.stringMatching(`^${code} `), expect.any(String)])
  })
})

describe("a service's own failure", () => {
  it('passes through unchanged', async () => {
    const { status: code, body } = await rawRequest(gateway.httpPort, '/api/v4/x')
    expect(code).toBe(503)
    expect(body).toBe('{"message":"its own words"}')
  })
})

describe('a gRPC call', () => {
  const call = (client: SagaClient) =>
    new Promise<ServiceError>((resolve, reject) => {
      const request = { sagaId: 'x', serviceName: 'x' }
      client.sagaStarted(request, (error) => (error ? resolve(error) : reject(new Error('it succeeded'))))
    })
  const clients: Client[] = []
  afterAll(() => {
    for (const client of clients) client.close()
  })

  it('to a reporter that is down is UNAVAILABLE, so that callers try again', async () => {
    const client = new SagaClient(gateway.grpcAddress, insecure)
    clients.push(client)
    expect((await call(client)).code).toBe(status.UNAVAILABLE)
  })

  it('to an unknown service is UNIMPLEMENTED', async () => {
    const client = new SagaClient(gateway.grpcAddress, insecure)
    clients.push(client)
    const error = await new Promise<ServiceError | null>((resolve) => {
      const identity = (bytes: Buffer) => bytes
      client.makeUnaryRequest('/no.such.Service/Call', identity, identity, Buffer.alloc(0), resolve)
    })
    expect(error?.code).toBe(status.UNIMPLEMENTED)
  })
})

describe('the log', () => {
  it('names the failed request and its upstream, and never a query', async () => {
    await rawRequest(gateway.httpPort, '/api/v4/sagas?private_token=hunter2', { method: 'POST' })
    const log = await gateway.logOnceItHas('"status":"502","')
    expect(log).toMatch(
      /"method":"POST","path":"\/api\/v4\/sagas".*"upstream":"127\.0\.0\.1:\d+","upstream_status":"502"/,
    )
    expect(log).not.toContain('hunter2')
  })
})
