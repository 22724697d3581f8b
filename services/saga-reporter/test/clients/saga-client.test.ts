import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createSagaClient,
  type SagaClient,
  type SagaClientOptions,
  SagaReportError,
} from '@switchyard/saga-client'
import { bundled, getFreePort, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decoders } from '../../src/shapes/operations.js'
import { makeCertificates } from '../certificates.js'
import { readLog } from '../event-log.js'
import type { Operation } from '../grpc-client.js'
import { createTokens, startHarness, startService } from '../harness.js'
import { startOlderServer } from './older-server.js'

let harness: Awaited<ReturnType<typeof startHarness>>
const closing: (() => unknown)[] = []
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  await harness.close()
})

function client(options: Partial<SagaClientOptions> = {}) {
  const created = createSagaClient({
    address: `127.0.0.1:${harness.grpcPort}`,
    serviceName: 'booking',
    retryDelayMs: 20,
    retryDelayMsMax: 200,
    ...options,
  })
  closing.push(() => created.close(0))
  return created
}

const recorded = { outcome: 'stored', message: 'recorded' }

describe('the client', () => {
  it('reports each of the ten operations, in the order of the calls, although none is awaited', async () => {
    const reporter = client({ tenant: 'client-all' })
    const saga = { sagaId: 's' }
    const [a, b, c] = ['a', 'b', 'c'].map((activityId) => ({ ...saga, activityId }))
    if (!a || !b || !c) throw new Error('no activities')
    const results = [
      reporter.sagaStarted({ ...saga, time: new Date('2026-01-02T03:04:05.678Z') }),
      reporter.activityExecuteStarted({ ...a, order: 0, timeOutSeconds: 30, parameter: { seats: 2 } }),
      reporter.activityEnded({ ...a, result: { seat: '4A' } }),
      reporter.activityExecuteStarted({ ...b, order: 1 }),
      reporter.activityExecuteOvertime({ ...b, error: 'too slow' }),
      reporter.activityRetried({ ...b, phase: 'execute', retries: 1, attempt: 1 }),
      reporter.activityExecuteAborted({ ...b, error: new Error('no room'), attempt: 1 }),
      reporter.activityExecuteStarted({ ...c, order: 2 }),
      reporter.activityRevoked(c),
      reporter.activityCompensateAborted({ ...b, error: 'try later', final: false }),
      reporter.activityCompensated(b),
      reporter.activityCompensated(a),
      reporter.sagaEnded(saga),
    ]
    expect(await Promise.all(results)).toEqual(results.map(() => recorded))
    const log = await readLog(harness.database, 'client-all')
    expect(log.map(({ operation }) => operation)).toEqual([
      'SagaStarted',
      'ActivityExecuteStarted',
      'ActivityEnded',
      'ActivityExecuteStarted',
      'ActivityExecuteOvertime',
      'ActivityRetried',
      'ActivityExecuteAborted',
      'ActivityExecuteStarted',
      'ActivityRevoked',
      'ActivityCompensateAborted',
      'ActivityCompensated',
      'ActivityCompensated',
      'SagaEnded',
    ])
    expect(new Set(log.map(({ eventId }) => eventId)).size).toBe(13)
    expect(log[0]?.eventTime).toEqual(new Date('2026-01-02T03:04:05.678Z'))
    const where = { tenant_id: { tenant: 'client-all', id: 's' } }
    expect(await harness.database.prisma.saga.findUnique({ where })).toMatchObject({
      status: 'Ended',
      outcome: 'compensated',
      serviceName: 'booking',
    })
  })

  it('reports refusals, and throws only when asked to', async () => {
    const told: unknown[] = []
    const quiet = client({ onNotStored: (event, result) => told.push([event, result]) })
    const blank = await quiet.sagaStarted({ sagaId: '' })
    expect(blank).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('SAGA_ID_REQUIRED') })
    expect(told).toEqual([[{ operation: 'sagaStarted', sagaId: '' }, blank]])
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const unwritable = { sagaId: 's', activityId: 'a', parameter: cycle }
    expect(await quiet.activityExecuteStarted(unwritable)).toMatchObject({ outcome: 'refused' })
    const loud = client({ throwWhenNotStored: true })
    await expect(loud.sagaStarted({ sagaId: '' })).rejects.toThrow(SagaReportError)
    expect(await loud.sagaStarted({ sagaId: 'loud' })).toEqual(recorded)
  })

  it('never blocks: events are lost by a full queue, a timeout or a closed client, and the loss is reported', async () => {
    const absent = client({ address: '127.0.0.1:1', queueMax: 2, giveUpAfterMs: 300, deadlineMs: 200 })
    const results = ['1', '2', '3'].map((sagaId) => absent.sagaStarted({ sagaId }))
    expect(await results[2]).toEqual({ outcome: 'lost', reason: 'the queue is full' })
    expect(absent.stats()).toMatchObject({ pending: 2, lost: 1 })
    expect(await results[0]).toMatchObject({
      outcome: 'lost',
      reason: expect.stringContaining('given up: UNAVAILABLE'),
    })
    expect(await absent.flush(5000)).toBe(true)

    const closed = client({ address: '127.0.0.1:1' })
    const under = closed.sagaStarted({ sagaId: '4' })
    expect(await closed.flush(50)).toBe(false)
    await closed.close(50)
    expect(await under).toMatchObject({ outcome: 'lost' })
    expect(await closed.sagaStarted({ sagaId: '5' })).toEqual({
      outcome: 'lost',
      reason: 'the client is closed',
    })
  })

  it('waits as long as a rate-limited reporter asks, and loses nothing', async () => {
    const service = await startService(harness.databaseUrl, {
      SAGA_RATE_LIMIT_PER_SERVICE: '20',
      SAGA_RATE_LIMIT_BURST: '5',
    })
    closing.push(service.close)
    const reporter = client({ address: `127.0.0.1:${service.grpcPort}`, tenant: 'client-limited' })
    const sent = Array.from({ length: 25 }, (_, index) =>
      reporter.sagaStarted({ sagaId: `limited-${index}` }),
    )
    const results = await Promise.all(sent)
    expect(results).toEqual(results.map(() => recorded))
    expect(reporter.stats()).toMatchObject({ stored: 25, lost: 0 })
    expect(reporter.stats().repeated).toBeGreaterThan(0)
  })

  it('connects with TLS, its certificate, and a token that may change', async () => {
    const folder = makeCertificates()
    const file = (name: string) => readFileSync(join(folder, name))
    const path = (name: string) => join(folder, name)
    const tokens = await createTokens(harness.database)
    const service = await startService(harness.databaseUrl, {
      SAGA_AUTH: 'token',
      SAGA_TLS_CERT_FILE: path('server.pem'),
      SAGA_TLS_KEY_FILE: path('server.key'),
      SAGA_TLS_CLIENT_CA_FILE: path('ca.pem'),
    })
    closing.push(service.close)
    let token = tokens.unknown
    const tls = { ca: file('ca.pem'), cert: file('orders.pem'), key: file('orders.key') }
    const reporter = client({ address: `127.0.0.1:${service.grpcPort}`, tls, token: () => token })
    expect(await reporter.sagaStarted({ sagaId: 'tls' })).toMatchObject({
      outcome: 'lost',
      reason: expect.stringContaining('UNAUTHENTICATED'),
    })
    token = tokens.reporter
    expect(await reporter.sagaStarted({ sagaId: 'tls' })).toEqual(recorded)
  })
})

/** Reports five events of each of many sagas without waiting for any of them. */
function reportSagas(reporter: SagaClient, prefix: string, sagas: number) {
  const ids = Array.from({ length: sagas }, (_, index) => `${prefix}-${index}`)
  return ids.flatMap((sagaId) => {
    const activity = { sagaId, activityId: `${sagaId}-a` }
    return [
      reporter.sagaStarted({ sagaId, tags: { prefix } }),
      reporter.activityExecuteStarted({ ...activity, parameter: { sagaId } }),
      reporter.activityRetried({ ...activity, phase: 'execute', retries: 1, attempt: 1 }),
      reporter.activityEnded({ ...activity, result: 'booked', attempt: 1 }),
      reporter.sagaEnded({ sagaId }),
    ]
  })
}

const operationsInOrder = [
  'SagaStarted',
  'ActivityExecuteStarted',
  'ActivityRetried',
  'ActivityEnded',
  'SagaEnded',
]

/** Asserts that the log of a tenant has the events of {@link reportSagas} once, in the order of each saga. */
async function expectSagasInOrder(tenant: string, sagas: number) {
  const log = await readLog(harness.database, tenant)
  expect(log).toHaveLength(sagas * operationsInOrder.length)
  const order = new Map<string, string[]>()
  for (const { operation, request } of log) {
    const { sagaId, activityId = '' }: { sagaId?: string; activityId?: string } =
      decoders[operation as Operation](request)
    const key = sagaId || activityId.replace(/-a$/, '')
    order.set(key, [...(order.get(key) ?? []), operation])
  }
  expect(order.size).toBe(sagas)
  for (const operations of order.values()) expect(operations).toEqual(operationsInOrder)
  return log
}

/** Returns the number of calls that the reporter has answered, by method. */
async function answered(method: string): Promise<number> {
  const metric = await harness.metrics.registry.getSingleMetric('grpc_server_handled_total')?.get()
  const ofMethod = metric?.values.filter(({ labels }) => `${labels.method}`.endsWith(method)) ?? []
  return ofMethod.reduce((sum, { value }) => sum + value, 0)
}

describe('batches', () => {
  it('send the events of many sagas in few calls, in the order of each saga', async () => {
    const before = await answered('/ReportEvents')
    const reporter = client({ tenant: 'batches' })
    const results = await Promise.all(reportSagas(reporter, 'batch', 100))
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    const log = await expectSagasInOrder('batches', 100)
    expect(log[0]).toMatchObject({ eventTime: expect.any(Date) })
    expect(new Set(log.map(({ eventId }) => eventId)).size).toBe(500)
    const calls = (await answered('/ReportEvents')) - before
    expect(calls).toBeGreaterThanOrEqual(5)
    expect(calls).toBeLessThanOrEqual(20)
  })

  it('refuse an event whose metadata an older reporter would change', async () => {
    const older = await startOlderServer(harness.grpcPort)
    closing.push(older.close)
    const reporter = client({ tenant: 'older-tags', address: older.address })
    const results = ['env=prod,team=x', ' padded ', 'Köln', 'red, white and blue'].map((value, index) =>
      reporter.sagaStarted({ sagaId: `${index}`, tags: { value } }),
    )
    const reason = 'the reporter takes no batches, and tags has characters that metadata would change'
    const refused = { outcome: 'refused', reason }
    expect(await Promise.all(results)).toEqual([refused, refused, refused, recorded])
  })

  it('are sent as single calls to an older reporter, without loss or reordering', async () => {
    const older = await startOlderServer(harness.grpcPort)
    closing.push(older.close)
    const reporter = client({ tenant: 'older', address: older.address })
    const results = await Promise.all(reportSagas(reporter, 'older', 20))
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    await expectSagasInOrder('older', 20)
    expect(older.calls.count).toBe(100)
    const tags = await harness.database.pool.query(
      `SELECT count(*)::int FROM saga_tags WHERE tenant = 'older'`,
    )
    expect(tags.rows).toEqual([{ count: 20 }])
  })

  it('preserve the order of a saga when the reporter limits its rate', async () => {
    const service = await startService(harness.databaseUrl, {
      SAGA_RATE_LIMIT_PER_SERVICE: '500',
      SAGA_RATE_LIMIT_BURST: '20',
    })
    closing.push(service.close)
    const reporter = client({ address: `127.0.0.1:${service.grpcPort}`, tenant: 'batch-limited' })
    const results = await Promise.all(reportSagas(reporter, 'limited', 40))
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    expect(reporter.stats().repeated).toBeGreaterThan(0)
    await expectSagasInOrder('batch-limited', 40)
  })

  it('return the outcome of each event, and a bad event does not affect others', async () => {
    const reporter = client({ tenant: 'batch-mixed', batchDelayMs: 50 })
    const results = await Promise.all([
      reporter.sagaStarted({ sagaId: 'good' }),
      reporter.sagaStarted({ sagaId: '' }),
      reporter.sagaStarted({ sagaId: 'x'.repeat(200) }),
      reporter.sagaEnded({ sagaId: 'good' }),
    ])
    expect(results).toEqual([
      recorded,
      { outcome: 'refused', reason: expect.stringContaining('SAGA_ID_REQUIRED') },
      { outcome: 'refused', reason: expect.stringContaining('ID_INVALID') },
      recorded,
    ])
  })

  it('never exceed 4 MiB, and an event that would is refused without being sent', async () => {
    const reporter = client({ tenant: 'batch-large', batchBytesMax: 4 * 1024 * 1024, deadlineMs: 20_000 })
    const error = 'x'.repeat(1024 * 1024)
    const named = (index: number) => ({ sagaId: 'large', activityId: `large-${index}` })
    const large = Array.from({ length: 10 }, (_, index) =>
      reporter.activityExecuteAborted({ ...named(index), error }),
    )
    const tooLarge = reporter.activityExecuteAborted({ ...named(10), error: 'x'.repeat(4 * 1024 * 1024) })
    expect(await tooLarge).toEqual({
      outcome: 'refused',
      reason: expect.stringMatching(/it has \d+ bytes, and a message may have 4194304/),
    })
    const results = await Promise.all(large)
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'stored'))
    expect(reporter.stats().repeated).toBe(0)
    expect(() => client({ batchBytesMax: 4 * 1024 * 1024 + 1 })).toThrow(RangeError)
    expect(() => client({ batchEventsMax: 1001 })).toThrow(RangeError)
  })

  it('that wait are sent by close, and their events are stored', async () => {
    const reporter = client({ tenant: 'batch-closed', batchDelayMs: 60_000 })
    const results = reportSagas(reporter, 'closed', 3)
    await reporter.close()
    expect(new Set((await Promise.all(results)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    await expectSagasInOrder('batch-closed', 3)
  })
})

describe('a reporter that is killed and started again during traffic', () => {
  it('stores every event once, in the order of its saga, and the client loses none', async () => {
    const port = await getFreePort()
    const reporter = client({
      address: `127.0.0.1:${port}`,
      tenant: 'client-restart',
      concurrencyMax: 20,
    })
    let process = await startProcess(port)
    closing.push(() => process.kill('SIGKILL'))
    const results: Promise<{ outcome: string }>[] = []
    let stop = false
    const traffic = (async () => {
      for (let saga = 0; !stop; saga++) {
        const named = { sagaId: `r-${saga}` }
        const activity = { ...named, activityId: `r-${saga}-a` }
        results.push(
          reporter.sagaStarted(named),
          reporter.activityExecuteStarted({ ...activity, parameter: { saga } }),
          reporter.activityEnded({ ...activity, result: 'booked' }),
          reporter.sagaEnded(named),
        )
        await new Promise((next) => setTimeout(next, 40))
      }
    })()
    for (let round = 0; round < 2; round++) {
      const before = reporter.stats().stored
      await waitFor(() => reporter.stats().stored > before + 100, { what: 'traffic' })
      process.kill('SIGKILL')
      await once(process, 'exit')
      process = await startProcess(port)
    }
    stop = true
    await traffic
    expect(await reporter.flush(90_000)).toBe(true)

    expect(new Set((await Promise.all(results)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    expect(reporter.stats()).toMatchObject({ lost: 0, refused: 0, stored: results.length })
    expect(reporter.stats().repeated).toBeGreaterThan(0)
    const log = await readLog(harness.database, 'client-restart')
    expect(log).toHaveLength(results.length)
    const order = new Map<string, string[]>()
    for (const { sagaId, operation } of log)
      order.set(`${sagaId}`, [...(order.get(`${sagaId}`) ?? []), operation])
    const expected = ['SagaStarted', 'ActivityExecuteStarted', 'ActivityEnded', 'SagaEnded']
    for (const operations of order.values()) expect(operations).toEqual(expected)
  })
})

/** Starts the reporter as a separate process. */
async function startProcess(grpcPort: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [await bundled('services/saga-reporter')], {
    env: {
      ...process.env,
      DATABASE_URL: harness.databaseUrl,
      PORT: '0',
      GRPC_PORT: String(grpcPort),
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await waitFor(
    async () => {
      const probe = createSagaClient({
        address: `127.0.0.1:${grpcPort}`,
        serviceName: 'probe',
        tenant: 'probe',
        giveUpAfterMs: 0,
      })
      const { outcome } = await probe.sagaStarted({ sagaId: 'probe' })
      await probe.close()
      return outcome === 'stored'
    },
    { what: 'the reporter' },
  )
  return child
}
