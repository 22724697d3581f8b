import { type ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  type GetSagaResponse,
  ListSagasRequest,
  type ListSagasResponse,
  SagaQueryClient,
  type WatchSagasResponse,
} from '@switchyard/contracts/saga-query'
import { waitFor } from '@switchyard/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reportAll } from '../grpc-client.js'
import { createTokens, startHarness, startService } from '../harness.js'
import { appendEntries, appendEntry } from './log-writer.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let client: SagaQueryClient
const clients: SagaQueryClient[] = []

beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
  client = connectTo(harness.grpcPort)
})
afterAll(async () => {
  for (const opened of clients) opened.close()
  await harness?.close()
})

function connectTo(port: number): SagaQueryClient {
  const opened = new SagaQueryClient(`127.0.0.1:${port}`, credentials.createInsecure())
  clients.push(opened)
  return opened
}

const bearing = (token: string | null): Metadata => {
  const metadata = new Metadata()
  if (token !== null) metadata.set('private-token', token)
  return metadata
}

const answer = <Response>(
  call: (callback: (error: ServiceError | null, response: Response) => void) => unknown,
) =>
  new Promise<Response>((resolve, reject) => {
    call((error, response) => (error ? reject(error) : resolve(response)))
  })

const getSaga = (sagaId: string, token: string | null = tokens.reader, pageToken = '') =>
  answer<GetSagaResponse>((callback) =>
    client.getSaga({ tenant: '', sagaId, pageToken }, bearing(token), callback),
  )

const listSagas = (given: Partial<ListSagasRequest> = {}) =>
  answer<ListSagasResponse>((callback) =>
    client.listSagas(ListSagasRequest.fromJSON(given), bearing(tokens.reader), callback),
  )

const codeOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => status.OK,
    (error: ServiceError) => error.code,
  )

const start = (sagaId: string, serviceName = 'booking') =>
  harness.grpc.report('SagaStarted', { sagaId, serviceName })

interface SagaInRest {
  activities: [
    Record<'execute_errors' | 'compensate_errors', { text: string; size: number }> & Record<string, unknown>,
  ]
  resolution: { at: string; by: string }
  [name: string]: unknown
}

/** Returns a message with the names and the times of the REST API. */
const asInRest = (message: object | undefined) =>
  Object.fromEntries(
    Object.entries(JSON.parse(JSON.stringify(message))).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )

/** Removes nulls, because a message leaves unknown fields unset. */
const withoutNulls = (row: object) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

describe('reading', () => {
  it('returns a saga with its activities in order', async () => {
    await start('q1')
    await harness.grpc.report('ActivityExecuteStarted', {
      sagaId: 'q1',
      activityId: 'q1-b',
      order: 1,
      parameterData: Buffer.from('{"room":7}'),
    })
    await harness.grpc.report('ActivityExecuteStarted', { sagaId: 'q1', activityId: 'q1-a', order: 0 })
    await harness.grpc.report('ActivityExecuteAborted', { activityId: 'q1-b', errors: 'no room' })
    const { saga, activities } = await getSaga('q1')
    expect(saga).toMatchObject({ sagaId: 'q1', tenant: 'default', serviceName: 'booking', status: 'Started' })
    expect(saga?.startedAt).toBeInstanceOf(Date)
    expect(saga?.endedAt).toBeUndefined()
    expect(activities).toMatchObject([
      { activityId: 'q1-a', order: 0, status: 'Executing', executeAttempts: 1, compensateAttempts: 0 },
      { activityId: 'q1-b', order: 1, status: 'ExecuteAborted', executeErrors: 'no room' },
    ])
    expect(activities[1]?.parameter).toMatchObject({ head: Buffer.from('{"room":7}'), size: 10 })
  })

  it('returns the same fields of a saga and its activities as the REST API', async () => {
    const about = { activityId: 'whole-1', sagaId: 'whole' }
    await reportAll(harness.grpc, [
      ['SagaStarted', { sagaId: 'whole', serviceName: 'booking' }],
      ['ActivityExecuteStarted', { ...about, order: 4, timeOutSeconds: 5, addTime: '2026-01-02 03:04:06' }],
      ['ActivityRetried', { activityId: 'whole-1' }],
      ['ActivityRetried', { activityId: 'whole-1', retries: 2, status: 'Executing' }],
      ['ActivityRevoked', { activityId: 'whole-1' }],
      ['ActivityExecuteAborted', { activityId: 'whole-1', errors: 'no room' }],
      ['ActivityExecuteOvertime', { ...about, errors: 'too late' }],
      ['ActivityEnded', { activityId: 'whole-1', resultData: Buffer.from('{}') }],
      [
        'ActivityRetried',
        { activityId: 'whole-1', retries: 1, activityRetryType: 1, status: 'Compensating' },
      ],
      ['ActivityCompensateAborted', { ...about, errors: 'cannot undo' }],
      ['SagaEnded', { sagaId: 'whole', serviceName: '2030-01-02 03:04:05' }],
    ])
    const sagaUrl = `${harness.baseUrl}/api/v4/sagas/whole`
    const resolved = await fetch(`${sagaUrl}/resolve`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': tokens.administrator, 'Content-Type': 'application/json' },
      body: JSON.stringify({ note: 'refunded by hand' }),
    })
    expect(resolved.ok).toBe(true)

    const headers = { 'PRIVATE-TOKEN': tokens.reader }
    const { activities, ...rest } = (await (await fetch(sagaUrl, { headers })).json()) as SagaInRest
    const message = await getSaga('whole')
    // Deployments are only available over HTTP.
    const { notes, events_url, resolution, deployments, children, children_counts, ...facts } = rest
    expect([deployments, children, children_counts]).toEqual([[], [], {}])
    expect(asInRest(message.saga)).toMatchObject({
      ...withoutNulls(facts),
      resolved_at: resolution.at,
      resolved_by: resolution.by,
    })
    const [{ parameter, result, execute_errors, compensate_errors, ...activity }] = activities
    expect(Object.keys(activity).filter((name) => activity[name] === null)).toEqual(['compensated_at'])
    expect(asInRest(message.activities[0])).toMatchObject({
      ...withoutNulls(activity),
      execute_errors: execute_errors.text,
      execute_errors_size: execute_errors.size,
      compensate_errors: compensate_errors.text,
      compensate_errors_size: compensate_errors.size,
    })
  })

  it('lists sagas in pages', async () => {
    for (let n = 0; n < 5; n += 1) await start(`page-${n}`, 'paging')
    const first = await listSagas({ serviceName: 'paging', pageSize: 3 })
    const second = await listSagas({ serviceName: 'paging', pageSize: 3, pageToken: first.nextPageToken })
    expect([first.sagas.length, second.sagas.length]).toEqual([3, 2])
    expect(second.nextPageToken).toBe('')
    const ids = [...first.sagas, ...second.sagas].map(({ sagaId }) => sagaId)
    expect(ids.sort()).toEqual(['page-0', 'page-1', 'page-2', 'page-3', 'page-4'])
    expect((await listSagas({ serviceName: 'paging', status: 'Ended' })).sagas).toEqual([])
  })

  it('needs a token that may read, even where everybody may report', async () => {
    expect(await codeOf(getSaga('q1', null))).toBe(status.UNAUTHENTICATED)
    expect(await codeOf(getSaga('q1', tokens.unknown))).toBe(status.UNAUTHENTICATED)
    expect(await codeOf(getSaga('q1', tokens.reporter))).toBe(status.PERMISSION_DENIED)
    expect(await codeOf(getSaga('q1', tokens.user))).toBe(status.PERMISSION_DENIED)
    expect(await codeOf(getSaga('q1', tokens.administrator))).toBe(status.OK)
  })

  it('refuses invalid requests', async () => {
    expect(await codeOf(getSaga('missing'))).toBe(status.NOT_FOUND)
    expect(await codeOf(getSaga('nul\0'))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(getSaga('q1', tokens.reader, 'bad'))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(listSagas({ status: 'Done' }))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(listSagas({ pageToken: 'x' }))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(listSagas({ pageSize: -1 }))).toBe(status.INVALID_ARGUMENT)
  })
})

interface WatchDependencies {
  tenant?: string
  serviceName?: string
  sagaId?: string
  statuses?: string[]
  operations?: string[]
  afterSequence?: number
}

const streams: ClientReadableStream<WatchSagasResponse>[] = []
afterEach(() => {
  for (const stream of streams.splice(0)) stream.cancel()
})

function watch(given: WatchDependencies = {}, token: string | null = tokens.reader, from = client) {
  const request = { tenant: '', statuses: [], operations: [], ...given }
  const stream = from.watchSagas(request, bearing(token))
  streams.push(stream)
  const messages: WatchSagasResponse[] = []
  let code: number | undefined
  let metadata = new Metadata()
  stream.on('data', (message: WatchSagasResponse) => messages.push(message))
  stream.on('error', (error: ServiceError) => {
    code = error.code
    metadata = error.metadata
  })
  stream.on('end', () => {
    code ??= status.OK
  })
  const events = () => messages.flatMap(({ event }) => (event ? [event] : []))
  return {
    stream,
    messages,
    events,
    sequences: () => events().map(({ sequence }) => sequence),
    begun: () => waitFor(() => messages.length > 0 || code !== undefined, { what: 'the first message' }),
    ended: () => waitFor(() => code !== undefined && { code, metadata }, { what: 'the end of the stream' }),
    hasEnded: () => code !== undefined,
  }
}

const revoke = (token: string) =>
  harness.database.pool.query(
    'UPDATE personal_access_tokens SET revoked_at = now() WHERE token_hash = sha256($1::text::bytea)',
    [token],
  )

describe('watching', () => {
  it('delivers reported events, and continues after a sequence with each event exactly once', async () => {
    const first = watch()
    await first.begun()
    await start('w0')
    await waitFor(() => first.events().length === 1)
    expect(first.events()[0]).toMatchObject({
      sagaId: 'w0',
      operation: 'SagaStarted',
      serviceName: 'booking',
    })
    const last = first.messages.at(-1)?.sequence
    first.stream.cancel()
    for (let n = 1; n <= 4; n += 1) await start(`w${n}`)
    const second = watch({ afterSequence: last })
    await second.begun()
    for (let n = 5; n <= 8; n += 1) await start(`w${n}`)
    await waitFor(() => second.events().length === 8)
    expect(second.events().map(({ sagaId }) => sagaId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `w${n}`))
  })

  it('filters events', async () => {
    const byService = watch({ serviceName: 'narrow' })
    const byOperation = watch({ operations: ['SagaEnded'], statuses: ['Ended'] })
    await Promise.all([byService.begun(), byOperation.begun()])
    await start('n1', 'narrow')
    await start('n2', 'other')
    await harness.grpc.report('SagaEnded', { sagaId: 'n2' })
    await waitFor(() => byService.events().length === 1 && byOperation.events().length === 1)
    expect(byService.events()[0]).toMatchObject({ sagaId: 'n1' })
    expect(byOperation.events()[0]).toMatchObject({ sagaId: 'n2', operation: 'SagaEnded' })
  })

  it('refuses callers who may not read, and invalid requests', async () => {
    const codes = await Promise.all(
      [
        watch({}, null),
        watch({}, tokens.reporter),
        watch({ statuses: ['Done'] }),
        watch({ operations: ['x'] }),
        watch({ afterSequence: -1 }),
      ].map(async (refused) => (await refused.ended()).code),
    )
    const { UNAUTHENTICATED, PERMISSION_DENIED, INVALID_ARGUMENT } = status
    expect(codes).toEqual([
      UNAUTHENTICATED,
      PERMISSION_DENIED,
      INVALID_ARGUMENT,
      INVALID_ARGUMENT,
      INVALID_ARGUMENT,
    ])
  })

  it('ends soon after the token was revoked', async () => {
    const { reader } = await createTokens(harness.database)
    const victim = watch({}, reader)
    const other = watch()
    await Promise.all([victim.begun(), other.begun()])
    await revoke(reader)
    expect((await victim.ended()).code).toBe(status.UNAUTHENTICATED)
    expect(other.hasEnded()).toBe(false)
  })

  it('ends with UNAUTHENTICATED also at an address that has sent many unknown tokens', async () => {
    const limiting = await startService(harness.databaseUrl, { RATE_LIMIT_PER_MINUTE: '1000' })
    try {
      const from = connectTo(limiting.grpcPort)
      const { reader } = await createTokens(harness.database)
      const victim = watch({}, reader, from)
      await victim.begun()
      const unknown = Array.from({ length: 60 }, (_, index) => watch({}, `unknown-${index}`, from).ended())
      await Promise.all(unknown)
      expect((await watch({}, 'unknown', from).ended()).code).toBe(status.RESOURCE_EXHAUSTED)
      await revoke(reader)
      const revokedAtMs = performance.now()
      expect((await victim.ended()).code).toBe(status.UNAUTHENTICATED)
      // The address is refused for a minute.
      expect(performance.now() - revokedAtMs).toBeLessThan(30_000)
    } finally {
      await limiting.close()
    }
  })

  it('reports a sequence beyond the end of the log', async () => {
    const lost = watch({ afterSequence: 9_000_000_000 })
    await lost.begun()
    expect(lost.messages[0]).toMatchObject({ reset: true })
    await start('after-reset')
    await waitFor(() => lost.events().length === 1)
  })

  it('buffers little for a client that does not read, disconnects it, and lets it continue', async () => {
    const strict = await startService(harness.databaseUrl, { SAGA_STREAM_STALL_MS_MAX: '500' })
    try {
      const from = connectTo(strict.grpcPort)
      const before = await appendEntry(harness.database.pool)
      const ids = Array.from({ length: 3000 }, (_, n) => `slow-${n}-${'x'.repeat(300)}`)
      const positions = await appendEntries(harness.database, ids)
      const slow = watch({ afterSequence: before }, tokens.reader, from)
      slow.stream.pause()
      const openStreams = async () => {
        const gauge = await strict.metrics.registry.getSingleMetric('saga_watch_streams')?.get()
        return gauge?.values.find(({ labels }) => labels.kind === 'grpc')?.value
      }
      await waitFor(async () => (await openStreams()) === 1)
      await waitFor(async () => (await openStreams()) === 0)
      slow.stream.resume()
      expect((await slow.ended()).code).toBe(status.ABORTED)
      const had = slow.sequences()
      expect(had.length).toBeLessThan(positions.length)
      const rest = watch({ afterSequence: had.at(-1) ?? before }, tokens.reader, from)
      await waitFor(() => had.length + rest.sequences().length === positions.length)
      expect([...had, ...rest.sequences()]).toEqual(positions)
    } finally {
      await strict.close()
    }
  })

  it('ends with RESOURCE_EXHAUSTED and RetryInfo beyond the share of one token', async () => {
    const small = await startService(harness.databaseUrl, { SAGA_STREAMS_MAX: '20' })
    const from = connectTo(small.grpcPort)
    const open = [watch({}, tokens.reader, from), watch({}, tokens.reader, from)]
    for (const { begun } of open) await begun()
    const refused = await watch({}, tokens.reader, from).ended()
    expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
    expect(String(refused.metadata.get('grpc-status-details-bin')[0])).toContain('google.rpc.RetryInfo')
    await watch({}, tokens.administrator, from).begun()
    await small.close()
  })

  it('ends with UNAVAILABLE beyond the limit, and when the server stops', async () => {
    const small = await startService(harness.databaseUrl, {
      SAGA_STREAMS_MAX: '1',
      SHUTDOWN_TIMEOUT_MS: '10000',
    })
    const from = connectTo(small.grpcPort)
    const first = watch({}, tokens.reader, from)
    await first.begun()
    expect((await watch({}, tokens.reader, from).ended()).code).toBe(status.UNAVAILABLE)
    const beginMs = Date.now()
    await small.close()
    expect(Date.now() - beginMs).toBeLessThan(5000)
    expect((await first.ended()).code).toBe(status.UNAVAILABLE)
  })
})
