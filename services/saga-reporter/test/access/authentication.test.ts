import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { type ChannelOptions, compressionAlgorithms, type ServiceError, status } from '@grpc/grpc-js'
import { createProject, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientCredentials, issue, makeCertificates } from '../certificates.js'
import { connect } from '../grpc-client.js'
import { createTokens, startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let folder: string
beforeAll(async () => {
  harness = await startHarness()
  folder = makeCertificates()
  issue(folder, 'billing', '/CN=billing')
  issue(folder, 'stranger', '/CN=orders.internal', 'DNS:stranger.internal')
})
afterAll(() => harness.close())

const denied = { code: status.PERMISSION_DENIED }
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

async function start(env: Record<string, string>) {
  const service = await startService(harness.databaseUrl, env)
  closing.push(service.close)
  return service
}

function client(port: number, name?: string, channelOptions?: ChannelOptions) {
  const grpc = connect(port, clientCredentials(folder, name), channelOptions)
  closing.push(grpc.close)
  return grpc
}

const servedFingerprint = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }
    const socket = connectTls(options, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.end()
    })
    socket.on('error', reject)
  })

const tlsFiles = () => ({
  SAGA_TLS_CERT_FILE: join(folder, 'server.pem'),
  SAGA_TLS_KEY_FILE: join(folder, 'server.key'),
})

describe('with SAGA_AUTH=mtls', () => {
  let port: number
  let baseUrl: string
  beforeAll(async () => {
    const service = await start({
      ...tlsFiles(),
      SAGA_AUTH: 'mtls',
      SAGA_TLS_CLIENT_CA_FILE: join(folder, 'ca.pem'),
      SAGA_MTLS_PEERS: 'orders.internal=service:orders, billing=tenant:acme',
    })
    port = service.grpcPort
    baseUrl = service.baseUrl
  })

  it('accepts no events over HTTP, where there are no client certificates', async () => {
    const { reporter } = await createTokens(harness.database)
    const response = await fetch(`${baseUrl}/api/v4/saga_events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'PRIVATE-TOKEN': reporter },
      body: JSON.stringify({ events: [{ operation: 'SagaStarted', saga_id: 'x', service_name: 'orders' }] }),
    })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      message: '403 Forbidden - events are reported over gRPC with a certificate',
    })
  })

  it('accepts events of the service to which the certificate of docs/operations.md is bound, and of no other', async () => {
    const orders = client(port, 'orders')
    const started = (sagaId: string, serviceName: string) =>
      orders.report('SagaStarted', { sagaId, serviceName })
    expect(await started('mtls-1', 'orders')).toMatchObject({ isSuccess: true, message: 'recorded' })
    expect(await orders.report('ActivityRevoked', { activityId: 'mtls-a' })).toMatchObject({
      isSuccess: true,
    })
    await expect(started('mtls-2', 'billing')).rejects.toMatchObject({
      ...denied,
      details: 'this certificate reports for service orders only',
    })
    await expect(
      orders.report('SagaEnded', { sagaId: 'mtls-1', serviceName: 'billing' }),
    ).rejects.toMatchObject(denied)
    expect(await orders.report('SagaEnded', { sagaId: 'mtls-1', serviceName: 'orders' })).toMatchObject({
      isSuccess: true,
    })
  })

  it('refuses events about a saga of another service, whether or not they name one', async () => {
    const { grpc: others } = await start({ SAGA_AUTH: 'none' })
    await others.report('SagaStarted', { sagaId: 'theirs', serviceName: 'billing' })
    await others.report('ActivityExecuteStarted', { sagaId: 'theirs', activityId: 'their-activity' })
    const orders = client(port, 'orders')
    const refused = { ...denied, details: 'the saga is not one of service orders' }
    for (let repetition = 0; repetition < 2; repetition += 1) {
      const events: [Parameters<typeof orders.report>[0], object][] = [
        ['ActivityEnded', { activityId: 'their-activity' }],
        ['ActivityExecuteStarted', { sagaId: 'theirs', activityId: 'one-more' }],
        ['SagaStarted', { sagaId: 'theirs', serviceName: 'orders' }],
        ['SagaEnded', { sagaId: 'theirs', serviceName: '2026-01-01 00:00:00.000' }],
      ]
      for (const [operation, event] of events)
        await expect(orders.report(operation, event), operation).rejects.toMatchObject(refused)
    }
    const where = { sagaId: 'theirs' }
    expect(await harness.database.prisma.sagaEvent.count({ where })).toBe(2)
  })

  it('uses the tenant of the certificate, and refuses every other one', async () => {
    const billing = client(port, 'billing')
    const started = { sagaId: 'mtls-tenant', serviceName: 'billing' }
    expect(await billing.report('SagaStarted', started)).toMatchObject({ isSuccess: true })
    const saga = await harness.database.prisma.saga.findMany({ where: { id: 'mtls-tenant' } })
    expect(saga.map(({ tenant }) => tenant)).toEqual(['acme'])
    const metadata = { 'x-tenant': 'acme' }
    expect(await billing.report('SagaStarted', started, { metadata })).toMatchObject({ message: 'duplicate' })
    await expect(
      billing.report('SagaStarted', started, { metadata: { 'x-tenant': 'default' } }),
    ).rejects.toMatchObject(denied)
  })

  it('recognizes the certificate of a caller that compresses its messages', async () => {
    const orders = client(port, 'orders', {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    })
    const started = (sagaId: string, serviceName: string) =>
      orders.report('SagaStarted', { sagaId, serviceName })
    expect(await started('mtls-gzip', 'orders')).toMatchObject({ isSuccess: true, message: 'recorded' })
    await expect(started('mtls-gzip-2', 'billing')).rejects.toMatchObject(denied)
  })

  it('refuses a valid certificate without a peer, whatever its common name is', async () => {
    const stranger = client(port, 'stranger')
    await expect(stranger.report('ActivityRevoked', { activityId: 'x' })).rejects.toMatchObject(denied)
  })

  it('refuses connections without a certificate', async () => {
    const nobody = client(port)
    await expect(
      nobody.report('ActivityRevoked', { activityId: 'x' }, { deadlineMs: 1000 }),
    ).rejects.toMatchObject({ code: expect.toSatisfy((code) => code !== status.OK) })
  })
})

describe('with TLS and tokens', () => {
  it('serves clients that have a token but no certificate', async () => {
    const tokens = await createTokens(harness.database)
    const { grpcPort } = await start({ ...tlsFiles(), SAGA_AUTH: 'token' })
    const grpc = client(grpcPort)
    const metadata = { authorization: `Bearer ${tokens.reporter}` }
    expect(await grpc.report('ActivityRevoked', { activityId: 'tls' }, { metadata })).toMatchObject({
      isSuccess: true,
    })
    await expect(grpc.report('ActivityRevoked', { activityId: 'tls' })).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    })
    expect(await grpc.unary('/grpc.health.v1.Health/Check', Buffer.alloc(0))).toBeDefined()
  })

  it('uses a renewed certificate for new connections without a restart, and keeps the last valid one', async () => {
    const [cert, key] = [join(folder, 'renewed.pem'), join(folder, 'renewed.key')]
    copyFileSync(join(folder, 'server.pem'), cert)
    copyFileSync(join(folder, 'server.key'), key)
    const env = { SAGA_TLS_CERT_FILE: cert, SAGA_TLS_KEY_FILE: key, SAGA_AUTH: 'none' }
    const { grpcPort } = await start(env)
    const served = () => servedFingerprint(grpcPort)
    const before = await served()
    writeFileSync(key, 'half a ')
    await delay(1500)
    expect(await served()).toBe(before)
    issue(folder, 'newer', '/CN=localhost', 'DNS:localhost')
    renameSync(join(folder, 'newer.key'), key)
    renameSync(join(folder, 'newer.pem'), cert)
    await expect.poll(served).not.toBe(before)
  })
})

describe('a token of one project', () => {
  it('cannot report, although it has the scope api', async () => {
    const owner = await createUser(harness.database)
    const { id: projectId } = await createProject(harness.database, owner)
    const { secret } = await createToken(harness.database, owner, { projectId })
    const { grpc } = await start({ SAGA_AUTH: 'token' })
    const metadata = { 'private-token': secret }
    await expect(grpc.report('ActivityRevoked', { activityId: 'bound' }, { metadata })).rejects.toMatchObject(
      {
        code: status.PERMISSION_DENIED,
      },
    )
  })
})

describe('a revoked token', () => {
  it('stops working within a second, and a new one works within a second of its refusal', async () => {
    const tokens = await createTokens(harness.database)
    const { grpc } = await start({ SAGA_AUTH: 'token' })
    const metadata = { 'private-token': tokens.reporter }
    const report = () =>
      grpc.report('ActivityRevoked', { activityId: 'revoked' }, { metadata }).then(
        () => status.OK,
        ({ code }: ServiceError) => code,
      )
    /** Returns when the last call began that was still answered with the old result, after the change. */
    const lastOld = async (now: status) => {
      const changedMs = performance.now()
      for (let oldMs = 0; ; ) {
        const beganMs = performance.now()
        if ((await report()) === now) return oldMs
        oldMs = beganMs - changedMs
        await delay(20)
      }
    }
    expect(await report()).toBe(status.OK)
    const token = { where: { scopes: { equals: ['saga_report'] } } }
    await harness.database.prisma.personalAccessToken.updateMany({
      ...token,
      data: { revokedAt: new Date() },
    })
    expect(await lastOld(status.UNAUTHENTICATED)).toBeLessThan(1000)
    await harness.database.prisma.personalAccessToken.updateMany({ ...token, data: { revokedAt: null } })
    expect(await lastOld(status.OK)).toBeLessThan(1000)
  })
})

describe('with SAGA_RATE_LIMIT_PER_SERVICE', () => {
  it('answers RESOURCE_EXHAUSTED with a delay to a service that reports too much, and does not affect others', async () => {
    const { grpc } = await start({ SAGA_RATE_LIMIT_PER_SERVICE: '1', SAGA_RATE_LIMIT_BURST: '3' })
    const started = (sagaId: string, serviceName: string) =>
      grpc.report('SagaStarted', { sagaId, serviceName })
    await started('limited', 'noisy')
    await grpc.report('ActivityEnded', { activityId: 'limited-a', sagaId: 'limited' })
    // Many reports at once exceed the limit also on a machine that takes seconds for them.
    const flood = Array.from({ length: 50 }, () =>
      grpc.report('ActivityCompensated', { activityId: 'limited-a' }).then(
        () => [],
        (error: ServiceError) => [error],
      ),
    )
    const [failure] = (await Promise.all(flood)).flat()
    expect(failure).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining('service noisy'),
    })
    expect(String(failure?.metadata.get('grpc-status-details-bin')[0])).toContain('google.rpc.RetryInfo')
    expect(await started('quiet-1', 'quiet')).toMatchObject({ isSuccess: true })
  })
})
