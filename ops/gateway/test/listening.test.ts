import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { findRecentNginx } from '@switchyard/local-servers'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, gatewayFolder, gatewayTools, startGateway } from './support/gateway.js'
import { insecure } from './support/grpc.js'
import { rawRequest } from './support/raw-request.js'
import { startServices } from './support/services.js'

const program = await findRecentNginx(gatewayTools, console.error)
const shipped = (path: string) => readFileSync(join(gatewayFolder, path), 'utf8')

let services: Awaited<ReturnType<typeof startServices>>
beforeAll(async () => {
  if (program) services = await startServices({}, ['git-api', 'saga-reporter'])
})
afterAll(() => services?.stop())

/** Reports the start of a saga, a gRPC call that needs the service behind the gateway. */
function reportStart(address: string, channel: ChannelCredentials, sagaId: string): Promise<CommonResponse> {
  const client = new SagaClient(address, channel)
  return new Promise<CommonResponse>((resolve, reject) => {
    client.sagaStarted(
      { sagaId, serviceName: 'orders' },
      new Metadata(),
      { deadline: Date.now() + 10_000 },
      (error, response) => (error ? reject(error) : resolve(response)),
    )
  }).finally(() => client.close())
}

describe.skipIf(!program)('the listen files as shipped, without TLS', () => {
  let gateway: Gateway
  beforeAll(async () => {
    const listening = {
      program: program ?? '',
      http: shipped('listen-http.conf'),
      grpc: shipped('listen-grpc.conf'),
    }
    gateway = await startGateway(services.ports, listening)
  })
  afterAll(() => gateway?.stop())

  it('serve HTTP and gRPC', async () => {
    expect((await rawRequest(gateway.httpPort, '/-/git-api/readiness')).status).toBe(200)
    expect(await reportStart(gateway.grpcAddress, insecure, 'plain-1')).toMatchObject({ isSuccess: true })
  })
})

describe.skipIf(!program)('the listen files as shipped, with TLS', () => {
  let gateway: Gateway
  let certificate: Buffer
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-tls-'))

  beforeAll(async () => {
    const [key, cert] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execaSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert])
    certificate = readFileSync(cert)
    const here = (text: string) => text.replaceAll('/etc/gateway/tls/', `${folder}/`)
    gateway = await startGateway(services.ports, {
      program: program ?? '',
      http: here(shipped('tls/listen-http.conf')),
      grpc: here(shipped('tls/listen-grpc.conf')),
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Sends a request over HTTPS, and trusts only this certificate. */
  const ask = (path: string, method = 'GET', headers: Record<string, string> = {}, body = '') =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]> }>(
      (resolve, reject) => {
        const { httpPort: port } = gateway
        const sent = request(
          { host: '127.0.0.1', port, path, method, headers, ca: certificate },
          (answer) => {
            answer.resume().once('end', () => resolve({ status: answer.statusCode, headers: answer.headers }))
          },
        )
        sent.once('error', reject)
        sent.end(body)
      },
    )

  it('serve HTTPS, make browsers keep using it, and set cookies for it only', async () => {
    const { status, headers } = await ask('/api/v4/version', 'GET', { 'PRIVATE-TOKEN': services.rootToken })
    expect([status, headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    const signedIn = await ask(
      '/api/v4/session',
      'POST',
      { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
      JSON.stringify({ token: services.rootToken }),
    )
    expect(signedIn.status).toBe(201)
    expect(signedIn.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-switchyard_session=.*; Secure/),
    ])
  })

  it('offer HTTP/2 and TLS 1.2 or later, and no HTTP without TLS', async () => {
    const connected = (options: object) =>
      new Promise<string>((resolve) => {
        const socket = connectTls({
          host: '127.0.0.1',
          port: gateway.httpPort,
          servername: 'localhost',
          ca: certificate,
          ...options,
        })
        socket.once('secureConnect', () => {
          resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`)
          socket.destroy()
        })
        socket.once('error', () => resolve('refused'))
      })
    expect(await connected({ ALPNProtocols: ['h2', 'http/1.1'] })).toBe('TLSv1.3 h2')
    expect(await connected({ maxVersion: 'TLSv1.2' })).toBe('TLSv1.2 false')
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }
    expect(await connected(old)).toBe('refused')
    expect((await rawRequest(gateway.httpPort, '/api/v4/version')).status).toBe(400)
  })

  it('serve gRPC over TLS to clients that trust the certificate', async () => {
    const trusting = credentials.createSsl(certificate)
    const address = gateway.grpcAddress.replace('127.0.0.1', 'localhost')
    expect(await reportStart(address, trusting, 'tls-1')).toMatchObject({ isSuccess: true })
    await expect(reportStart(address, credentials.createSsl(), 'tls-2')).rejects.toMatchObject({
      code: 14,
    })
    await expect(reportStart(address, insecure, 'tls-3')).rejects.toMatchObject({ code: 14 })
  })
})
