import { createHash } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import { SagaEndedRequest } from '@switchyard/contracts/saga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deriveFromLog, readLog } from '../event-log.js'
import { encode, type Fields, type Operation, reportAll } from '../grpc-client.js'
import { startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const report = (operation: Operation, fields: Fields, metadata?: Record<string, string>) =>
  harness.grpc.report(operation, fields, { metadata })

const findSaga = (tenant: string, id: string) =>
  harness.database.prisma.saga.findUniqueOrThrow({ where: { tenant_id: { tenant, id } } })
const findActivity = (tenant: string, id: string) =>
  harness.database.prisma.sagaActivity.findUniqueOrThrow({ where: { tenant_id: { tenant, id } } })

/** Every operation once, in a plausible order. */
const everyOperation: [Operation, Fields][] = [
  ['SagaStarted', { sagaId: 's', serviceName: 'booking' }],
  [
    'ActivityExecuteStarted',
    { activityId: 'a', sagaId: 's', timeOutSeconds: 30, parameterData: Buffer.from('{"seat":4}'), order: 0 },
  ],
  ['ActivityEnded', { activityId: 'a', sagaId: 's', resultData: Buffer.from([0, 255]) }],
  ['ActivityExecuteStarted', { activityId: 'b', sagaId: 's', order: 1 }],
  ['ActivityExecuteOvertime', { activityId: 'b', sagaId: 's', errors: 'too slow' }],
  ['ActivityRetried', { activityId: 'b', status: '', retries: 1, activityRetryType: 0 }],
  ['ActivityExecuteAborted', { activityId: 'b', errors: 'no seat\n  at Hotel.book' }],
  ['ActivityExecuteStarted', { activityId: 'c', sagaId: 's', order: 2 }],
  ['ActivityRevoked', { activityId: 'c' }],
  ['ActivityCompensateAborted', { activityId: 'b', sagaId: '', errors: 'try later' }],
  ['ActivityCompensated', { activityId: 'b' }],
  ['ActivityCompensated', { activityId: 'a' }],
  ['SagaEnded', { sagaId: 's', serviceName: '' }],
]

describe('reporting a saga', () => {
  it('stores each of the ten operations exactly, in the order of the calls', async () => {
    const tenant = 'every-operation'
    const before = Date.now()
    const messages = await reportAll(harness.grpc, everyOperation, { metadata: { 'x-tenant': tenant } })
    expect(messages).toEqual(everyOperation.map(() => 'recorded'))

    const log = await readLog(harness.database, tenant)
    expect(
      log.map((row) => ({
        operation: row.operation,
        request: Buffer.from(row.request).toString('hex'),
        activityId: row.activityId,
        sagaId: row.sagaId,
        result: row.result,
      })),
    ).toEqual(
      everyOperation.map(([operation, fields]) => ({
        operation,
        request: encode(operation, fields).toString('hex'),
        activityId: fields.activityId ?? null,
        sagaId: 's',
        result: 'recorded',
      })),
    )
    expect(new Set(everyOperation.map(([operation]) => operation)).size).toBe(10)
    for (const { receivedAt } of log) expect(receivedAt.getTime()).toBeGreaterThanOrEqual(before)
    expect(await findSaga(tenant, 's')).toMatchObject({ status: 'Ended', outcome: 'compensated' })
    const { stored, derived } = await deriveFromLog(harness.database, tenant)
    expect(stored).toEqual(derived)
  })

  it('ends with outcome succeeded on the happy path', async () => {
    await reportAll(harness.grpc, [
      ['SagaStarted', { sagaId: 'happy', serviceName: 'booking' }],
      ['ActivityExecuteStarted', { activityId: 'happy-1', sagaId: 'happy', order: 0 }],
      ['ActivityEnded', { activityId: 'happy-1', sagaId: 'happy' }],
      ['ActivityExecuteStarted', { activityId: 'happy-2', sagaId: 'happy', order: 1 }],
      ['ActivityEnded', { activityId: 'happy-2', sagaId: 'happy' }],
    ])
    expect(await findSaga('default', 'happy')).toMatchObject({ status: 'Started', outcome: null })
    expect(await report('SagaEnded', { sagaId: 'happy' })).toEqual({
      isSuccess: true,
      message: 'recorded',
      errors: '',
    })
    expect(await findSaga('default', 'happy')).toMatchObject({ status: 'Ended', outcome: 'succeeded' })
  })

  it('parks events of an unknown activity until an event names its saga', async () => {
    const messages = await reportAll(harness.grpc, [
      ['ActivityExecuteAborted', { activityId: 'parked-1', errors: 'e' }],
      ['ActivityCompensated', { activityId: 'parked-1' }],
      ['ActivityExecuteStarted', { activityId: 'parked-1', sagaId: 'parked', order: 5 }],
      ['SagaStarted', { sagaId: 'parked', serviceName: 'booking' }],
      ['ActivityExecuteAborted', { activityId: 'parked-1', errors: 'e' }],
    ])
    expect(messages).toEqual(['parked', 'parked', 'late', 'recorded', 'duplicate'])
    expect(await findActivity('default', 'parked-1')).toMatchObject({
      sagaId: 'parked',
      order: 5,
      status: 'Compensated',
    })
  })

  it('reports contradictions, and stores both events', async () => {
    const messages = await reportAll(harness.grpc, [
      ['ActivityExecuteStarted', { activityId: 'conflict-1', sagaId: 'conflict' }],
      ['ActivityEnded', { activityId: 'conflict-1', resultData: Buffer.from('1') }],
      ['ActivityEnded', { activityId: 'conflict-1', resultData: Buffer.from('2') }],
    ])
    expect(messages).toEqual(['recorded', 'recorded', 'conflict recorded'])
    const { anomalies, resultData } = await findActivity('default', 'conflict-1')
    expect(anomalies).toEqual(['result_conflict'])
    expect(Buffer.from(resultData ?? []).toString()).toBe('1')
  })

  it('reads the time in a Pole-era SagaEnded as its expiry', async () => {
    await report('SagaStarted', { sagaId: 'pole', serviceName: 'booking' })
    const bytes = SagaEndedRequest.encode({ sagaId: 'pole', ExpiresAt: '2030-03-09 05:13:08.123' }).finish()
    expect(await harness.grpc.send('SagaEnded', Buffer.from(bytes))).toMatchObject({ isSuccess: true })
    expect(await findSaga('default', 'pole')).toMatchObject({
      serviceName: 'booking',
      expiresAt: new Date('2030-03-09T05:13:08.123Z'),
      outcome: 'empty',
    })
  })

  it('uses x-event-time as a missing start time, but never replaces a given one', async () => {
    const metadata = { 'x-event-time': '2026-01-02T03:04:05Z' }
    await report('SagaStarted', { sagaId: 'timed', serviceName: 'booking' }, metadata)
    const addTime = '2026-02-02 00:00:00.000'
    await report('ActivityExecuteStarted', { activityId: 'timed-1', sagaId: 'timed', addTime }, metadata)
    expect(await findSaga('default', 'timed')).toMatchObject({ addTime: new Date('2026-01-02T03:04:05Z') })
    expect(await findActivity('default', 'timed-1')).toMatchObject({
      addTime: new Date('2026-02-02T00:00:00Z'),
    })
  })
})

describe('a call that is repeated or out of order', () => {
  it('is a duplicate when its x-event-id is known, whatever its content is, and is stored once', async () => {
    const metadata = { 'x-event-id': 'e-1', 'x-tenant': 'ids' }
    const started: Fields = { sagaId: 's', serviceName: 'booking' }
    expect(await report('SagaStarted', started, metadata)).toMatchObject({ message: 'recorded' })
    expect(await report('SagaStarted', started, metadata)).toMatchObject({ message: 'duplicate' })
    expect(await report('ActivityRevoked', { activityId: 'other' }, metadata)).toMatchObject({
      isSuccess: true,
      message: 'duplicate',
    })
    expect(await readLog(harness.database, 'ids')).toHaveLength(1)
    const elsewhere = { ...metadata, 'x-tenant': 'ids-2' }
    expect(await report('SagaStarted', started, elsewhere)).toMatchObject({ message: 'recorded' })
  })

  it('is a duplicate when its x-event-id is known, even where it would now be refused', async () => {
    const metadata = { 'x-event-id': 'e-1', 'x-tenant': 'repeated' }
    const tenant = { 'x-tenant': 'repeated' }
    const ended: Fields = { sagaId: 's', serviceName: 'booking' }
    expect(await report('SagaEnded', ended, metadata)).toMatchObject({ message: 'recorded' })
    expect(await report('SagaStarted', { sagaId: 's', serviceName: 'billing' }, tenant)).toMatchObject({
      isSuccess: true,
    })
    expect(await report('SagaEnded', ended, { ...tenant, 'x-event-id': 'e-2' })).toMatchObject({
      isSuccess: false,
      errors: expect.stringMatching('^SAGA_SERVICE_MISMATCH: '),
    })
    expect(await report('SagaEnded', ended, metadata)).toMatchObject({ message: 'duplicate' })
  })

  it('is a duplicate when it has no new content, and is stored when its content differs', async () => {
    const tenant = 'contents'
    const metadata = { 'x-tenant': tenant }
    const execute: Fields = { activityId: 'a', sagaId: 's', parameterData: Buffer.from('1') }
    await report('ActivityExecuteStarted', execute, metadata)
    const rows = await deriveFromLog(harness.database, tenant)
    expect(await report('ActivityExecuteStarted', execute, metadata)).toMatchObject({ message: 'duplicate' })
    const other = { ...execute, parameterData: Buffer.from('2') }
    expect(await report('ActivityExecuteStarted', other, metadata)).toMatchObject({ message: 'duplicate' })
    expect(await report('ActivityExecuteStarted', other, metadata)).toMatchObject({ message: 'duplicate' })
    expect((await readLog(harness.database, tenant)).map(({ result }) => result)).toEqual([
      'recorded',
      'duplicate',
    ])
    const after = await deriveFromLog(harness.database, tenant)
    // Nothing has changed except the keys of the accepted events.
    const withoutKeys = (found: object[]) => found.map((row) => ({ ...row, contentKeys: null }))
    expect(withoutKeys(after.stored.sagas)).toEqual(withoutKeys(rows.stored.sagas))
    expect(withoutKeys(after.stored.activities)).toEqual(withoutKeys(rows.stored.activities))
    expect(after.stored).toEqual(after.derived)
  })

  it('leads to the same sagas and activities', async () => {
    const shuffled = [...everyOperation, ...everyOperation].sort(
      (a, b) => JSON.stringify(b).length - JSON.stringify(a).length,
    )
    // A retry separates two aborts that look alike, so it keeps its place.
    const isRetry = ([operation]: [Operation, Fields]) => operation === 'ActivityRetried'
    const events = shuffled.filter((event) => !isRetry(event))
    const metadata = { 'x-tenant': 'shuffled' }
    const messages = await reportAll(harness.grpc, events, { metadata })
    expect(messages.filter((message) => message.startsWith('refused'))).toEqual([])
    expect(messages.filter((message) => message === 'duplicate').length).toBeGreaterThanOrEqual(12)
    expect(await findSaga('shuffled', 's')).toMatchObject({ status: 'Ended', outcome: 'compensated' })
    const { stored, derived } = await deriveFromLog(harness.database, 'shuffled')
    expect(stored).toEqual(derived)
    expect(stored.activities.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a Compensated',
      'b Compensated',
      'c Revoked',
    ])
  })
})

describe('an event that can never be valid', () => {
  it.each<[Operation, Fields, string]>([
    ['SagaStarted', { sagaId: ' ', serviceName: 'x' }, 'SAGA_ID_REQUIRED'],
    ['SagaStarted', { sagaId: 'r' }, 'SERVICE_NAME_REQUIRED'],
    ['SagaEnded', { sagaId: '' }, 'SAGA_ID_REQUIRED'],
    ['SagaEnded', { sagaId: 'a\u0000b' }, 'ID_INVALID'],
    ['ActivityExecuteStarted', { activityId: 'r-1' }, 'SAGA_ID_REQUIRED'],
    ['ActivityExecuteStarted', { activityId: 'r-1', sagaId: 'r', order: -1 }, 'ORDER_INVALID'],
    ['ActivityExecuteStarted', { activityId: 'r-1', sagaId: 'r', timeOutSeconds: -1 }, 'TIMEOUT_INVALID'],
    ['ActivityExecuteStarted', { activityId: 'r-1', sagaId: 'r', addTime: 'now' }, 'ADD_TIME_INVALID'],
    ['ActivityRetried', { activityId: 'r-1', activityRetryType: 7 }, 'RETRY_TYPE_INVALID'],
    ['ActivityRetried', { activityId: 'r-1', retries: -1 }, 'RETRIES_INVALID'],
    ['ActivityRetried', { activityId: 'r-1', status: 'Compensated' }, 'RETRY_STATUS_INVALID'],
    ['ActivityCompensated', { activityId: '' }, 'ACTIVITY_ID_REQUIRED'],
    ['ActivityRevoked', { activityId: 'x'.repeat(129) }, 'ID_INVALID'],
  ])('%s %o is refused with %s and leaves no trace', async (operation, fields, code) => {
    const metadata = { 'x-tenant': 'refused' }
    const answer = await report(operation, fields, metadata)
    expect(answer).toMatchObject({ isSuccess: false, errors: expect.stringMatching(`^${code}: .`) })
    expect(answer.message).not.toBe('')
    expect(await readLog(harness.database, 'refused')).toEqual([])
  })

  it('is refused when it contradicts its saga or activity', async () => {
    await report('SagaStarted', { sagaId: 'mine', serviceName: 'booking' })
    await report('ActivityExecuteStarted', { activityId: 'mine-1', sagaId: 'mine' })
    const count = await harness.database.prisma.sagaEvent.count()
    expect(await report('SagaStarted', { sagaId: 'mine', serviceName: 'other' })).toMatchObject({
      isSuccess: false,
      errors: expect.stringMatching('^SAGA_SERVICE_MISMATCH: '),
    })
    expect(await report('ActivityEnded', { activityId: 'mine-1', sagaId: 'other' })).toMatchObject({
      isSuccess: false,
      message: 'activity belongs to another saga',
      errors: expect.stringMatching('^ACTIVITY_SAGA_MISMATCH: '),
    })
    expect(await harness.database.prisma.sagaEvent.count()).toBe(count)
  })
})

describe('an invalid call', () => {
  it('is INVALID_ARGUMENT when its bytes are not such a message', async () => {
    await expect(harness.grpc.send('ActivityRevoked', Buffer.from([0x0a, 0x7f, 0x61]))).rejects.toMatchObject(
      {
        code: status.INVALID_ARGUMENT,
      },
    )
  })

  it('is INVALID_ARGUMENT when its metadata cannot be a key', async () => {
    await expect(
      report('SagaEnded', { sagaId: 's' }, { 'x-event-id': 'e'.repeat(200) }),
    ).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
  })

  it('is RESOURCE_EXHAUSTED when its message is too large', async () => {
    const resultData = Buffer.alloc(5 * 1024 * 1024)
    await expect(report('ActivityEnded', { activityId: 'large', resultData })).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
    })
  })

  it('is UNIMPLEMENTED for an unknown operation', async () => {
    const path = '/svc.Sagas.Server.Grpc.Saga/SagaPaused'
    await expect(harness.grpc.unary(path, Buffer.alloc(0))).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
    })
  })
})

describe('the content of a text or payload', () => {
  it('is stored to the last byte, except NUL characters in errors', async () => {
    const parameterData = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256))
    const errors = `'; DROP TABLE sagas; -- \\ "{}" \u0000 ✓ ${'x'.repeat(50_000)}`
    await report('ActivityExecuteStarted', { activityId: 'odd', sagaId: 'odd', parameterData })
    await report('ActivityExecuteAborted', { activityId: 'odd', errors })
    const odd = await findActivity('default', 'odd')
    expect(Buffer.from(odd.parameterData ?? []).equals(parameterData)).toBe(true)
    const head = Buffer.from(errors)
      .subarray(0, 16 * 1024)
      .toString()
    expect(odd.executeErrors).toBe(head.replace('\0', '\uFFFD'))
    expect(odd.executeErrorsSize).toBe(Buffer.byteLength(errors))
    expect(odd.executeErrorsSha256).toEqual(Uint8Array.from(createHash('sha256').update(errors).digest()))
  })
})

it('the same operations are served under the path of older clients', async () => {
  const options = { service: 'pole.Sagas.Server.Grpc.Saga', metadata: { 'x-tenant': 'alias' } }
  for (const [operation, fields] of everyOperation) {
    expect(await harness.grpc.report(operation, fields, options)).toMatchObject({ message: 'recorded' })
  }
  expect(await readLog(harness.database, 'alias')).toHaveLength(everyOperation.length)
})
