import { fileURLToPath } from 'node:url'
import { CommonResponse } from '@switchyard/contracts/saga'
import {
  EventOutcome,
  ReportEventsRequest,
  ReportEventsResponse,
  ReportedEvent,
} from '@switchyard/contracts/saga-ingest'
import { WatchSagasRequest, WatchSagasResponse } from '@switchyard/contracts/saga-query'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encode, type Fields, type Operation } from '../grpc-client.js'
import { createTokens, startHarness } from '../harness.js'

/** Clients of other gRPC implementations; every other test here uses grpc-js. */
const clients = [
  { name: 'grpcio', program: process.env.SWITCHYARD_TEST_GRPC_PYTHON ?? '', script: 'client.py' },
  { name: 'ruby-grpc', program: process.env.SWITCHYARD_TEST_GRPC_RUBY ?? '', script: 'client.rb' },
]
for (const { name, program } of clients)
  if (!program) console.warn(`SKIPPED: a client with ${name}, because none was found (apt-get install)`)

interface Call {
  path: string
  kind?: 'unary' | 'stream'
  request?: Buffer
  metadata?: [key: string, value: string][]
  /** In seconds. */
  timeout?: number
  /** Number of messages after which a stream is cancelled. */
  take?: number
}

interface Ended {
  code: string
  details: string
  responses: Buffer[]
  trailers: string[]
}

const reportPath = (operation: Operation) => `/svc.Sagas.Server.Grpc.Saga/${operation}`
const watchPath = '/switchyard.sagas.v1.SagaQuery/WatchSagas'

describe.each(clients)('a client with $name', ({ name, program, script }) => {
  let harness: Awaited<ReturnType<typeof startHarness>>
  let tokens: Awaited<ReturnType<typeof createTokens>>
  beforeAll(async () => {
    if (!program) return
    harness = await startHarness({ SAGA_AUTH: 'token' })
    tokens = await createTokens(harness.database)
  })
  afterAll(() => harness?.close())

  async function make(...calls: Call[]): Promise<Ended[]> {
    const file = fileURLToPath(new URL(script, import.meta.url))
    const given = {
      target: `127.0.0.1:${harness.grpcPort}`,
      calls: calls.map((call) => ({ ...call, request: call.request?.toString('base64') })),
    }
    const { stdout } = await execa(program, [file], { input: JSON.stringify(given), timeout: 300_000 })
    const ended = JSON.parse(stdout) as (Omit<Ended, 'responses'> & { responses: string[] })[]
    return ended.map((each) => ({
      ...each,
      responses: each.responses.map((response) => Buffer.from(response, 'base64')),
    }))
  }

  const bearing = (token: string): [string, string] => ['authorization', `Bearer ${token}`]
  const report = (operation: Operation, fields: Fields, ...metadata: [string, string][]): Call => ({
    path: reportPath(operation),
    request: encode(operation, fields),
    metadata: [bearing(tokens.reporter), ...metadata],
    timeout: 20,
  })
  const messageOf = ({ responses }: Ended) => CommonResponse.decode(responses[0] ?? Buffer.alloc(0))
  const started = { sagaId: name, serviceName: 'booking' }

  it.skipIf(!program)('reports a saga, which is recorded once, and receives it from a stream', async () => {
    const ended = await make(
      report('SagaStarted', started),
      report('ActivityExecuteStarted', {
        sagaId: name,
        activityId: `${name}-a`,
        parameterData: Buffer.from('p'),
      }),
      report('ActivityEnded', { activityId: `${name}-a` }),
      report('SagaEnded', started),
      report('SagaEnded', started),
      {
        path: watchPath,
        kind: 'stream',
        request: Buffer.from(
          WatchSagasRequest.encode(
            WatchSagasRequest.fromPartial({ sagaId: name, afterSequence: 0 }),
          ).finish(),
        ),
        metadata: [bearing(tokens.reader)],
        timeout: 20,
        take: 5,
      },
    )
    expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 'OK'))
    expect(ended.slice(0, 5).map((each) => messageOf(each).message)).toEqual([
      ...Array.from({ length: 4 }, () => 'recorded'),
      'duplicate',
    ])
    const operations = ended[5]?.responses.map((bytes) => WatchSagasResponse.decode(bytes).event?.operation)
    expect(operations?.filter((operation) => operation !== undefined)).toEqual([
      'SagaStarted',
      'ActivityExecuteStarted',
      'ActivityEnded',
      'SagaEnded',
    ])
  })

  it.skipIf(!program)('reports events in a batch, and receives one result for each', async () => {
    const sagaId = `${name}-batch`
    const request = {
      events: [
        ReportedEvent.fromPartial({ id: `${sagaId}-1`, sagaStarted: { sagaId, serviceName: 'booking' } }),
        ReportedEvent.fromPartial({ id: `${sagaId}-2`, sagaEnded: { sagaId: '' } }),
        ReportedEvent.fromPartial({ id: `${sagaId}-3`, sagaEnded: { sagaId } }),
      ],
    }
    const [ended] = await make({
      path: '/switchyard.sagas.v1.SagaIngest/ReportEvents',
      request: Buffer.from(ReportEventsRequest.encode(request).finish()),
      metadata: [bearing(tokens.reporter)],
      timeout: 20,
    })
    expect(ended?.code).toBe('OK')
    const { results } = ReportEventsResponse.decode(ended?.responses[0] ?? Buffer.alloc(0))
    expect(results.map(({ outcome }) => EventOutcome[outcome])).toEqual([
      'EVENT_OUTCOME_RECORDED',
      'EVENT_OUTCOME_REJECTED',
      'EVENT_OUTCOME_RECORDED',
    ])
  })

  it.skipIf(!program)('receives the statuses of docs/errors.md', async () => {
    const call = report('SagaStarted', started)
    const [nobody, reader, unreadable, twoTenants, twoIds, rejected, unknown] = await make(
      { ...call, metadata: [] },
      { ...call, metadata: [bearing(tokens.reader)] },
      { ...call, request: Buffer.from([0xff]) },
      report('SagaStarted', started, ['x-tenant', 'a'], ['x-tenant', 'b']),
      report('SagaStarted', started, ['x-event-id', '1'], ['x-event-id', '2']),
      report('SagaStarted', { sagaId: '' }),
      { ...call, path: '/svc.Sagas.Server.Grpc.Saga/Nothing' },
    )
    expect(nobody).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(reader).toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(unreadable).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(twoTenants).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: 'x-tenant must have one value, without a comma',
    })
    expect(twoIds).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(messageOf(rejected as Ended)).toMatchObject({ isSuccess: false })
    expect(unknown).toMatchObject({ code: 'UNIMPLEMENTED' })
  })

  it.skipIf(!program)('receives DEADLINE_EXCEEDED without RetryInfo after its deadline', async () => {
    // The first call connects, because a channel whose first call has timed out may fail the next one before
    // it reaches the server.
    const [, atOnce, watching] = await make(
      report('SagaStarted', started),
      { ...report('SagaStarted', started), timeout: 0.000_001 },
      { path: watchPath, kind: 'stream', metadata: [bearing(tokens.reader)], timeout: 1, take: 100 },
    )
    for (const ended of [atOnce, watching]) {
      expect(ended).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
      expect(ended?.trailers).not.toContain('grpc-status-details-bin')
    }
  })
})
