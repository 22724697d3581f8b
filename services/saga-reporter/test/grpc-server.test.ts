import { status } from '@grpc/grpc-js'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, type Grpc } from './grpc-client.js'
import { createTokens, startHarness, startService } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const bytes = (request: Buffer) => request
const started = { sagaId: 's', serviceName: 'booking' }

/** HealthCheckRequest and the number in HealthCheckResponse: 1 SERVING, 2 NOT_SERVING. */
const healthRequest = (service: string) =>
  service === ''
    ? Buffer.alloc(0)
    : Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)])
const servingStatus = (response: Buffer) => response[1]

describe('health', () => {
  it.each(['', 'svc.Sagas.Server.Grpc.Saga', 'pole.Sagas.Server.Grpc.Saga'])(
    'of %j is SERVING once the database answers',
    async (service) => {
      await waitFor(async () => {
        const response = await harness.grpc.unary('/grpc.health.v1.Health/Check', healthRequest(service))
        return servingStatus(response) === 1
      })
    },
  )

  it('of an unknown service is NOT_FOUND', async () => {
    await expect(
      harness.grpc.unary('/grpc.health.v1.Health/Check', healthRequest('nope')),
    ).rejects.toMatchObject({ code: status.NOT_FOUND })
  })
})

it('counts what was reported, by operation and what became of it', async () => {
  const metadata = { 'x-tenant': 'counted' }
  await harness.grpc.report('SagaStarted', started, { metadata })
  await harness.grpc.report('SagaStarted', started, { metadata })
  await harness.grpc.report('ActivityRevoked', { activityId: 'nobodys' }, { metadata })
  await harness.grpc.report('SagaStarted', { sagaId: '' }, { metadata })
  const figures = await (await fetch(`${harness.baseUrl}/metrics`)).text()
  const of = (name: string) => figures.split('\n').filter((line) => line.startsWith(`${name}{`))
  expect(of('saga_events_total').toSorted()).toEqual([
    'saga_events_total{op="ActivityRevoked",result="parked",service="saga-reporter"} 1',
    'saga_events_total{op="SagaStarted",result="duplicate",service="saga-reporter"} 1',
    'saga_events_total{op="SagaStarted",result="recorded",service="saga-reporter"} 1',
    'saga_events_total{op="SagaStarted",result="rejected",service="saga-reporter"} 1',
  ])
  expect(of('saga_event_ingest_duration_seconds_count')).toHaveLength(4)
  expect(of('saga_ingest_batch_size_sum')).toEqual(['saga_ingest_batch_size_sum{service="saga-reporter"} 3'])
  expect(of('saga_ingest_batch_duration_seconds_count')).toEqual([
    'saga_ingest_batch_duration_seconds_count{service="saga-reporter"} 3',
  ])
})

it('answers reflection with the service and its descriptor', async () => {
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const symbol = 'svc.Sagas.Server.Grpc.Saga'
  const ask = (request: Buffer) =>
    new Promise<string>((resolve, reject) => {
      const call = harness.grpc.client.makeBidiStreamRequest(path, bytes, bytes)
      call.on('data', (response: Buffer) => resolve(response.toString('latin1')))
      call.on('error', reject)
      call.write(request)
      call.end()
    })
  expect(await ask(Buffer.from([0x3a, 0]))).toContain(symbol)
  const descriptor = await ask(Buffer.concat([Buffer.from([0x22, symbol.length]), Buffer.from(symbol)]))
  expect(descriptor).toContain('saga.proto')
  expect(descriptor).toContain('ActivityExecuteOvertime')
})

describe('stopping', () => {
  it('tells an open health watch, finishes the calls under way, and does not wait for the watch', async () => {
    const service = await startService(harness.databaseUrl)
    const path = '/grpc.health.v1.Health/Watch'
    const seen: (number | undefined)[] = []
    const watch = service.grpc.client.makeServerStreamRequest(path, bytes, bytes, healthRequest(''))
    watch.on('data', (response: Buffer) => seen.push(servingStatus(response)))
    watch.on('error', () => seen.push(-1))
    await waitFor(() => seen.includes(1), { what: 'SERVING' })

    const calls = Array.from({ length: 100 }, (_, index) =>
      service.grpc.report('ActivityRevoked', { activityId: `stopping-${index}` }),
    )
    service.health.startDraining()
    const closed = service.lifecycle.close()
    const answers = await Promise.all(calls)
    await closed

    expect(answers.every(({ isSuccess }) => isSuccess)).toBe(true)
    await waitFor(() => seen.at(-1) === -1, { what: 'the watch to be cut' })
    expect(seen.at(-2)).toBe(2)
    await expect(service.grpc.report('SagaStarted', started, { deadlineMs: 500 })).rejects.toMatchObject({
      code: expect.any(Number),
    })
    service.grpc.close()
  })
})

describe('with SAGA_AUTH=token', () => {
  let service: Awaited<ReturnType<typeof startService>>
  let tokens: Awaited<ReturnType<typeof createTokens>>
  let grpc: Grpc
  beforeAll(async () => {
    tokens = await createTokens(harness.database)
    service = await startService(harness.databaseUrl, { SAGA_AUTH: 'token' })
    grpc = connect(service.grpcPort)
  })
  afterAll(async () => {
    grpc.close()
    await service.close()
  })

  const report = (metadata: Record<string, string>) => grpc.report('SagaStarted', started, { metadata })

  it('takes events from holders of the scope, as private-token and as bearer', async () => {
    expect(await report({ 'private-token': tokens.reporter })).toMatchObject({ isSuccess: true })
    expect(await report({ authorization: `Bearer ${tokens.reporter}` })).toMatchObject({ isSuccess: true })
    expect(await report({ authorization: `Bearer ${tokens.user}` })).toMatchObject({ isSuccess: true })
  })

  it('is UNAUTHENTICATED without a good token', async () => {
    await expect(report({})).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
    await expect(report({ 'private-token': tokens.unknown })).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    })
  })

  it('is PERMISSION_DENIED without the scope', async () => {
    await expect(report({ 'private-token': tokens.reader })).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      details: 'the token needs scope api or saga_report',
    })
  })

  it('asks before it looks at the request', async () => {
    await expect(grpc.send('ActivityRevoked', Buffer.from([0xff]))).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    })
  })

  it('leaves health open to load balancers', async () => {
    await expect(grpc.unary('/grpc.health.v1.Health/Check', healthRequest(''))).resolves.toBeDefined()
  })
})
