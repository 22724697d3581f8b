import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from './support/gateway.js'
import { startServices } from './support/services.js'

let services: Awaited<ReturnType<typeof startServices>>
let gateway: Gateway

beforeAll(async () => {
  services = await startServices({ SAGA_AUTH: 'token' })
  gateway = await startGateway(services.ports)
})

afterAll(async () => {
  await gateway?.stop()
  await services?.stop()
})

/** The address of a client beside the flood; the whole network 127.0.0.0/8 is this machine. */
const other = '127.0.0.3'

/** Returns headers with an unknown token, and with a forged address of the client. */
const forged = (n: number) => ({
  'private-token': `random-${n}`,
  'x-forwarded-for': `203.0.113.${n}`,
  'x-real-ip': `203.0.113.${n}`,
  forwarded: `for=203.0.113.${n}`,
})

async function overHttp(localAddress: string, path: string, headers: OutgoingHttpHeaders): Promise<string> {
  const outgoing = request({ host: '127.0.0.1', port: gateway.httpPort, path, headers, localAddress }).end()
  const [response] = await once(outgoing, 'response')
  response.resume()
  return String(response.statusCode)
}

/** Returns the status of a gRPC call, as its number. */
async function overGrpc(localAddress: string, path: string, headers: OutgoingHttpHeaders): Promise<string> {
  const port = Number(gateway.grpcAddress.split(':')[1])
  const createConnection = () => connect({ host: '127.0.0.1', port, localAddress })
  const session = connectHttp2(`http://${gateway.grpcAddress}`, { createConnection })
  try {
    const call = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    call.end(Buffer.alloc(5))
    const [answer] = await once(call, 'response')
    call.resume()
    if (answer['grpc-status'] !== undefined) return String(answer['grpc-status'])
    const [trailers] = await once(call, 'trailers')
    return String(trailers['grpc-status'])
  } finally {
    session.destroy()
  }
}

describe.each([
  ['git-api over HTTP', '127.0.0.4', overHttp, '/api/v4/user', '401', '429'],
  ['saga-reporter over HTTP', '127.0.0.5', overHttp, '/api/v4/sagas', '401', '429'],
  ['reports over gRPC', '127.0.0.6', overGrpc, '/svc.Sagas.Server.Grpc.Saga/SagaStarted', '16', '8'],
  ['questions over gRPC', '127.0.0.7', overGrpc, '/switchyard.sagas.v1.SagaQuery/GetSaga', '16', '8'],
] as const)('%s', (_name, flooding, ask, path, unauthenticated, rateLimited) => {
  it('counts requests of a client under its own address, whatever address it claims', async () => {
    const answers = new Set<string>()
    // While Redis answers too late, the service counts apart, so more than 60 may pass on a busy machine.
    for (let n = 0; n < 250 && !answers.has(rateLimited); n += 1)
      answers.add(await ask(flooding, path, forged(n)))
    expect([...answers]).toEqual([unauthenticated, rateLimited])
    expect(await ask(other, path, forged(1))).toBe(unauthenticated)
    expect(await ask(other, path, { 'private-token': 'random-x', 'x-forwarded-for': flooding })).toBe(
      unauthenticated,
    )
    await expect.poll(() => ask(flooding, path, forged(71))).toBe(rateLimited)
  })
})
