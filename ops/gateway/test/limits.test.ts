import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server, type Http2Server } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Gateway, startGateway } from './support/gateway.js'

let gateway: Gateway
/** A server that accepts requests and answers none. */
let silent: Server
let silentGrpc: Http2Server
const portOf = (server: Server | Http2Server) => (server.address() as AddressInfo).port
const open: Socket[] = []
beforeAll(async () => {
  silent = createServer().listen(0, '127.0.0.1')
  silentGrpc = createHttp2Server().listen(0, '127.0.0.1')
  await Promise.all([once(silent, 'listening'), once(silentGrpc, 'listening')])
  gateway = await startGateway({ 'git-api': portOf(silent), 'saga-reporter-grpc': portOf(silentGrpc) })
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})
afterAll(async () => {
  await gateway?.stop()
  silent?.closeAllConnections()
  silent?.close()
  silentGrpc?.close()
})

/** Returns the first line of the answer to an address. */
async function statusFor(address: string, path: string): Promise<string | undefined> {
  const socket = connect({ port: gateway.httpPort, host: '127.0.0.1', localAddress: address })
  open.push(socket)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  return (await text(socket)).split('\r\n', 1)[0]
}

it('an address that sends far more requests than a client needs is refused with 429, in the shape of the services', async () => {
  // nginx ends a connection after 1,000 requests.
  const sent = 900
  const ask = async () => {
    const asking = connect({ port: gateway.httpPort, host: '127.0.0.1', localAddress: '127.0.0.1' })
    await once(asking, 'connect')
    const one = 'GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n'
    asking.write(one.repeat(sent - 1) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    return await text(asking)
  }
  const flood = Promise.all(Array.from({ length: 6 }, ask))
  // No service runs here, so 502 means that nginx has not refused the request.
  expect(await statusFor('127.0.0.2', '/-/console/liveness')).toBe('HTTP/1.1 502 Bad Gateway')
  const answers = (await flood).join('')
  expect(answers).toContain('HTTP/1.1 429 Too Many Requests')
  expect(answers).toContain('{"message":"429 Too Many Requests","request_id":"')
  // Requests within the limit are answered nevertheless: no service runs behind this path.
  expect(answers.match(/HTTP\/1\.1 (404|502)/g)?.length).toBeGreaterThanOrEqual(2000)
})

it('an address with more simultaneous requests than a client needs is refused with 429, and its neighbour is served', async () => {
  let under = 0
  silent.on('request', () => {
    under += 1
  })
  for (let count = 0; count < 1000; count += 1) {
    const socket = connect({ port: gateway.httpPort, host: '127.0.0.1', localAddress: '127.0.0.3' })
    open.push(socket)
    socket.write('GET /api/v4/version HTTP/1.1\r\nHost: localhost\r\n\r\n')
  }
  await expect.poll(() => under).toBe(1000)
  expect(await statusFor('127.0.0.3', '/-/console/liveness')).toBe('HTTP/1.1 429 Too Many Requests')
  expect(await statusFor('127.0.0.4', '/-/console/liveness')).toBe('HTTP/1.1 502 Bad Gateway')
  for (const socket of open.splice(0)) socket.destroy()
  await expect.poll(() => statusFor('127.0.0.3', '/-/console/liveness')).toBe('HTTP/1.1 502 Bad Gateway')
})

it('an address with more simultaneous gRPC calls than an orchestrator needs is refused with 429, and its neighbour is served', async () => {
  let under = 0
  silentGrpc.on('stream', () => {
    under += 1
  })
  const dial = (localAddress: string) =>
    connectHttp2(`http://${gateway.grpcAddress}`, {
      createConnection: ({ port }: URL) => connect({ port: Number(port), host: '127.0.0.1', localAddress }),
    }).on('error', () => {})
  const path = '/svc.Sagas.Server.Grpc.Saga/SagaStarted'
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const call = (session: ReturnType<typeof dial>) => session.request(headers).on('error', () => {})
  const [first, second, neighbour] = [dial('127.0.0.5'), dial('127.0.0.5'), dial('127.0.0.6')]
  try {
    for (let count = 0; count < 1000; count += 1) for (const session of [first, second]) call(session)
    await expect.poll(() => under).toBe(2000)
    expect((await once(call(first), 'response'))[0]).toMatchObject({ ':status': 429 })
    call(neighbour)
    await expect.poll(() => under).toBe(2001)
  } finally {
    for (const session of [first, second, neighbour]) session.destroy()
  }
})
