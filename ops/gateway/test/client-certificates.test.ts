import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { findRecentNginx } from '@switchyard/local-servers'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Echo, startEcho, type Upstream } from './support/echo-server.js'
import { type Gateway, gatewayFolder, gatewayTools, startGateway } from './support/gateway.js'
import { startGrpcEcho } from './support/grpc.js'

const program = await findRecentNginx(gatewayTools, console.error)
const folder = mkdtempSync(join(tmpdir(), 'switchyard-mtls-'))
const shipped = (path: string) =>
  readFileSync(join(gatewayFolder, path), 'utf8')
    .replaceAll('/etc/gateway/tls/', `${folder}/`)
    .replaceAll('/etc/gateway/client-ca.pem', `${folder}/ca.pem`)
const file = (name: string) => readFileSync(join(folder, name))

const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
const openssl = (...args: string[]) => execaSync('openssl', args, { cwd: folder })

/** Creates an authority `NAME.pem`, and below it the certificate `OWNER-NAME.pem`. */
function makeCertificates(authority: string, owner: string, names: string): void {
  const caKey = `${authority}.key`
  openssl('req', '-x509', ...key, '-subj', `/CN=${authority}`, '-keyout', caKey, '-out', `${authority}.pem`)
  const own = `${owner}-${authority}`
  const signed = ['-CA', `${authority}.pem`, '-CAkey', caKey, '-addext', `subjectAltName=${names}`]
  const subject = ['-subj', `/O=Acme/CN=${owner}`]
  openssl('req', '-x509', ...key, ...subject, ...signed, '-keyout', `${own}.key`, '-out', `${own}.pem`)
}

describe.skipIf(!program)('client certificates at the gateway, with the files as shipped', () => {
  let gateway: Gateway
  let echo: Upstream
  let sagas: Awaited<ReturnType<typeof startGrpcEcho>>

  beforeAll(async () => {
    makeCertificates('ca', 'orders', 'DNS:orders.internal')
    makeCertificates('other', 'orders', 'DNS:orders.internal')
    const server = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    openssl('req', '-x509', ...key, ...server, '-keyout', 'privkey.pem', '-out', 'fullchain.pem')
    echo = await startEcho('git-api')
    sagas = await startGrpcEcho()
    gateway = await startGateway(
      { 'git-api': echo.port, 'saga-reporter-grpc': sagas.port },
      {
        program: program ?? '',
        http: shipped('tls/listen-http.conf'),
        grpc: shipped('tls/listen-grpc.conf'),
        files: {
          'clients-http.conf': shipped('tls/clients-http.conf'),
          'clients-grpc.conf': shipped('tls/clients-grpc.conf'),
        },
      },
    )
  })
  afterAll(async () => {
    await gateway?.stop()
    await echo?.close()
    await sagas?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Sends a request over HTTPS with the certificate of an owner, or with none. */
  async function ask(owner?: string, headers: Record<string, string> = {}) {
    const own = owner ? { key: file(`${owner}.key`), cert: file(`${owner}.pem`) } : {}
    const at = {
      host: '127.0.0.1',
      port: gateway.httpPort,
      path: '/api/v4/version',
      ca: file('fullchain.pem'),
    }
    const sent = request({ ...at, ...own, headers, agent: false }).end()
    const [answer] = await once(sent, 'response')
    const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as Partial<Echo>
    return { status: answer.statusCode, body, subject: body.headers?.['x-client-certificate-subject'] }
  }

  it('admits clients without a certificate over HTTP, with no subject, whatever they claim', async () => {
    const claim = { 'X-Client-Certificate-Subject': 'CN=root' }
    expect(await ask(undefined, claim)).toMatchObject({ status: 200, subject: undefined })
  })

  it('sends services the subject of a verified certificate, instead of the one that a client claims', async () => {
    const claim = { 'X-Client-Certificate-Subject': 'CN=root' }
    expect(await ask('orders-ca', claim)).toMatchObject({ status: 200, subject: 'CN=orders,O=Acme' })
    await gateway.logOnceItHas('"client_certificate":"CN=orders,O=Acme"')
  })

  it('refuses a certificate of another authority over HTTP, with a body like every refusal', async () => {
    expect(await ask('orders-other')).toMatchObject({
      status: 400,
      body: { error: '400 Bad Request', request_id: expect.any(String) },
    })
  })

  /** Calls SagaStarted with the certificate of an owner, or with none. */
  async function report(owner?: string): Promise<CommonResponse> {
    const ca = file('fullchain.pem')
    const channel = owner
      ? credentials.createSsl(ca, file(`${owner}.key`), file(`${owner}.pem`))
      : credentials.createSsl(ca)
    const client = new SagaClient(gateway.grpcAddress.replace('127.0.0.1', 'localhost'), channel)
    const metadata = new Metadata()
    metadata.set('x-client-certificate-subject', 'CN=root')
    try {
      return await new Promise<CommonResponse>((resolve, reject) => {
        client.sagaStarted(
          { sagaId: 'mtls', serviceName: 'orders' },
          metadata,
          { deadline: Date.now() + 10_000 },
          (error, response) => (error ? reject(error) : resolve(response)),
        )
      })
    } finally {
      client.close()
    }
  }

  it('lets orchestrators report over gRPC only with a valid certificate', async () => {
    await report('orders-ca')
    expect(sagas.seen.at(-1)?.get('x-client-certificate-subject')).toEqual(['CN=orders,O=Acme'])
    await expect(report()).rejects.toMatchObject({ code: 16 })
    await expect(report('orders-other')).rejects.toMatchObject({ code: 16 })
    expect(sagas.seen).toHaveLength(1)
  })
})
