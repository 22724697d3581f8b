import { type ServiceError, status } from '@grpc/grpc-js'
import { descriptorSet } from '@switchyard/contracts/descriptors'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, encode, type Grpc } from '../grpc-client.js'
import { createTokens, startHarness, startService } from '../harness.js'
import { callFields, connectFrames, dataOf, headersOf } from './http2-frames.js'
import { frame } from './raw-calls.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const bytes = (request: Buffer) => request
const started = { sagaId: 's', serviceName: 'booking' }

/** Encodes a HealthCheckRequest. The number in HealthCheckResponse is 1 for SERVING, 2 for NOT_SERVING. */
const healthRequest = (service: string) =>
  service === ''
    ? Buffer.alloc(0)
    : Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)])
const servingStatus = (response: Buffer) => response[1]

/**
 * Returns the values of a string or message field in the bytes of a message whose other fields are numbers.
 */
function valuesOf(message: Buffer, field: number): Buffer[] {
  const values: Buffer[] = []
  let at = 0
  const readNumber = (): number => {
    const byte = message.readUInt8(at++)
    return byte < 0x80 ? byte : byte - 0x80 + readNumber() * 0x80
  }
  while (at < message.length) {
    const tag = readNumber()
    const number = readNumber()
    if (tag % 8 !== 2) continue
    if (tag === field * 8 + 2) values.push(message.subarray(at, at + number))
    at += number
  }
  return values
}

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

it('reported events are counted by operation and result', async () => {
  const metadata = { 'x-tenant': 'counted' }
  await harness.grpc.report('SagaStarted', started, { metadata })
  await harness.grpc.report('SagaStarted', started, { metadata })
  await harness.grpc.report('ActivityRevoked', { activityId: 'nobodys' }, { metadata })
  await harness.grpc.report('SagaStarted', { sagaId: '' }, { metadata })
  const metrics = await (await fetch(`${harness.baseUrl}/metrics`)).text()
  const of = (name: string) => metrics.split('\n').filter((line) => line.startsWith(`${name}{`))
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

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  const ask = (field: number, text: string) =>
    new Promise<Buffer>((resolve, reject) => {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
      const call = harness.grpc.client.makeBidiStreamRequest(path, bytes, bytes)
      call.on('data', resolve)
      call.on('error', reject)
      call.write(Buffer.concat([Buffer.from([field * 8 + 2, text.length]), Buffer.from(text)]))
      call.end()
    })
  /** Returns the FileDescriptorResponse for `file_by_filename` or `file_containing_symbol`. */
  const askFiles = async (field: number, text: string) =>
    valuesOf(await ask(field, text), 4).flatMap((response) => valuesOf(response, 1))
  const [byFilename, bySymbol, listServices] = [3, 4, 7]

  const compiled = valuesOf(Buffer.from(descriptorSet), 1)
  const nameOf = (file: Buffer) => String(valuesOf(file, 1)[0])
  const importsOf = (file: Buffer) => valuesOf(file, 3).map(String)
  const servicesOf = (file: Buffer) =>
    valuesOf(file, 6).map((service) => `${valuesOf(file, 2)[0]}.${valuesOf(service, 1)[0]}`)
  /** Services whose files were not compiled here: the alias, and the services of the library. */
  const methodsOfOthers = {
    'grpc.health.v1.Health': ['Check', 'List', 'Watch'],
    'grpc.reflection.v1.ServerReflection': ['ServerReflectionInfo'],
    'grpc.reflection.v1alpha.ServerReflection': ['ServerReflectionInfo'],
    'pole.Sagas.Server.Grpc.Saga': [
      'SagaStarted',
      'SagaEnded',
      'ActivityExecuteStarted',
      'ActivityRetried',
      'ActivityExecuteAborted',
      'ActivityCompensateAborted',
      'ActivityEnded',
      'ActivityCompensated',
      'ActivityExecuteOvertime',
      'ActivityRevoked',
    ],
  }
  const fileNames = [
    'saga.proto',
    'google/protobuf/timestamp.proto',
    'switchyard/sagas/v1/saga.proto',
    'switchyard/sagas/v1/saga_commands.proto',
    'switchyard/sagas/v1/saga_ingest.proto',
    'switchyard/sagas/v1/saga_query.proto',
    'switchyard/sagas/v1/saga_recovery.proto',
  ]
  const fileOfService = {
    'svc.Sagas.Server.Grpc.Saga': 'saga.proto',
    'switchyard.sagas.v1.SagaCommands': 'switchyard/sagas/v1/saga_commands.proto',
    'switchyard.sagas.v1.SagaIngest': 'switchyard/sagas/v1/saga_ingest.proto',
    'switchyard.sagas.v1.SagaQuery': 'switchyard/sagas/v1/saga_query.proto',
    'switchyard.sagas.v1.SagaRecovery': 'switchyard/sagas/v1/saga_recovery.proto',
  }

  /** Checks what a strict client requires of files: as compiled, each once, with all imports. */
  function expectLoadable(files: Buffer[]) {
    const names = files.map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    for (const file of files) {
      expect(file.equals(compiled.find((one) => nameOf(one) === nameOf(file)) as Buffer)).toBe(true)
      expect(names).toEqual(expect.arrayContaining(importsOf(file)))
    }
  }

  it('lists the services', async () => {
    const [response] = valuesOf(await ask(listServices, '*'), 6)
    const names = valuesOf(response as Buffer, 1).map((service) => String(valuesOf(service, 1)[0]))
    expect(names.toSorted()).toEqual(
      [...Object.keys(fileOfService), ...Object.keys(methodsOfOthers)].toSorted(),
    )
  })

  it.each(Object.entries(fileOfService))(
    'answers %s with its file %s and its imports',
    async (name, file) => {
      const files = await askFiles(bySymbol, name)
      expectLoadable(files)
      expect(nameOf(files[0] as Buffer)).toBe(file)
      expect(files.filter((one) => servicesOf(one).includes(name)).map(nameOf)).toEqual([file])
    },
  )

  it.each(Object.entries(methodsOfOthers))('describes %s with its methods', async (name, methods) => {
    const files = await askFiles(bySymbol, name)
    const file = files.find((one) => servicesOf(one).includes(name)) as Buffer
    const service = valuesOf(file, 6).find((one) => name.endsWith(`.${valuesOf(one, 1)[0]}`)) as Buffer
    const described = valuesOf(service, 2).map((method) => String(valuesOf(method, 1)[0]))
    expect(described.toSorted()).toEqual(methods.toSorted())
    // A client can load the file, because the answer contains its imports.
    expect(files.map(nameOf)).toEqual(expect.arrayContaining(importsOf(file)))
  })

  it('finds every file by its name, and no other file', async () => {
    expect(compiled.map(nameOf)).toEqual(fileNames)
    for (const name of fileNames) {
      const files = await askFiles(byFilename, name)
      expectLoadable(files)
      expect(nameOf(files[0] as Buffer)).toBe(name)
    }
    expect(await askFiles(byFilename, 'switchyard/sagas/v1/nope.proto')).toEqual([])
  })
})

describe('stopping', () => {
  it('updates an open health watch, finishes the current calls, and does not wait for the watch', async () => {
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
    // The first answer shows that all calls have been sent.
    await Promise.any(calls)
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

  it('accepts events from holders of the scope, as private-token and as bearer', async () => {
    expect(await report({ 'private-token': tokens.reporter })).toMatchObject({ isSuccess: true })
    expect(await report({ authorization: `Bearer ${tokens.reporter}` })).toMatchObject({ isSuccess: true })
    expect(await report({ 'private-token': tokens.administrator })).toMatchObject({ isSuccess: true })
  })

  it('answers UNAUTHENTICATED without a valid token', async () => {
    await expect(report({})).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
    await expect(report({ 'private-token': tokens.unknown })).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    })
  })

  it('answers PERMISSION_DENIED without the scope, even for a user who may use the whole API', async () => {
    for (const token of [tokens.reader, tokens.user])
      await expect(report({ 'private-token': token })).rejects.toMatchObject({
        code: status.PERMISSION_DENIED,
        details: 'the token needs scope saga_report',
      })
  })

  it('checks the token before the request', async () => {
    await expect(grpc.send('ActivityRevoked', Buffer.from([0xff]))).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    })
  })

  it('reads only the first of two authorizations, because node:http2 does not expose the second', async () => {
    const client = await connectFrames(service.grpcPort)
    const good = ['authorization', `Bearer ${tokens.reporter}`] as const
    const bad = ['authorization', `Bearer ${tokens.unknown}`] as const
    const path = '/svc.Sagas.Server.Grpc.Saga/SagaStarted'
    const message = frame(encode('SagaStarted', started))
    client.send(headersOf(1, callFields(path, good, bad)), dataOf(1, message, true))
    client.send(headersOf(3, callFields(path, bad, good)), dataOf(3, message, true))
    await waitFor(() => client.isEnded(1) && client.isEnded(3))
    expect([client.isRefused(1), client.isRefused(3)]).toEqual([false, true])
    client.close()
  })

  it('answers random tokens of an address with RESOURCE_EXHAUSTED after 60 in a minute, and valid ones as before', async () => {
    const limited = await startService(harness.databaseUrl, {
      SAGA_AUTH: 'token',
      RATE_LIMIT_PER_MINUTE: '6000',
    })
    const codeOf = (token: string) =>
      limited.grpc.report('SagaStarted', started, { metadata: { 'private-token': token } }).then(
        () => status.OK,
        ({ code }: ServiceError) => code,
      )
    for (let index = 0; index < 60; index += 1)
      expect(await codeOf(`glpat-random-${index}`)).toBe(status.UNAUTHENTICATED)
    expect(await codeOf('glpat-random-60')).toBe(status.RESOURCE_EXHAUSTED)
    expect(await codeOf(tokens.reporter)).toBe(status.OK)
    expect(await codeOf(tokens.reader)).toBe(status.PERMISSION_DENIED)
    await limited.close()
  })

  it('answers a call without a valid token before its message arrives', async () => {
    const client = await connectFrames(service.grpcPort)
    client.send(headersOf(1, callFields('/svc.Sagas.Server.Grpc.Saga/SagaStarted')))
    await waitFor(() => client.isRefused(1))
    client.close()
  })

  it('leaves health open to load balancers', async () => {
    await expect(grpc.unary('/grpc.health.v1.Health/Check', healthRequest(''))).resolves.toBeDefined()
  })
})
