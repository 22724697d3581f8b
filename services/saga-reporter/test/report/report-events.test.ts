import { type ServiceError, status } from '@grpc/grpc-js'
import {
  EventOutcome,
  ReportEventsRequest,
  ReportEventsResponse,
  type ReportedEvent,
} from '@switchyard/contracts/saga-ingest'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLog, rowsWithoutTimes } from '../event-log.js'
import { type CallOptions, type Fields, type Grpc, type Operation, requestOf } from '../grpc-client.js'
import { createTokens, startHarness, startService } from '../harness.js'
import { randomCall } from '../random-calls.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

type Given = [Operation, Fields, Partial<ReportedEvent>?]

const path = '/switchyard.sagas.v1.SagaIngest/ReportEvents'

const nothing: ReportedEvent = {
  id: '',
  time: undefined,
  tags: [],
  tenant: '',
  traceParent: '',
  parentSagaId: '',
}

const eventOf = ([operation, fields, about]: Given): ReportedEvent => ({
  ...nothing,
  ...about,
  [`${operation.charAt(0).toLowerCase()}${operation.slice(1)}`]: requestOf(fields),
})

async function reportEvents(events: ReportedEvent[], options?: CallOptions, grpc: Grpc = harness.grpc) {
  const request = Buffer.from(ReportEventsRequest.encode({ events }).finish())
  const { results } = ReportEventsResponse.decode(await grpc.unary(path, request, options))
  return results.map(({ outcome, message, errors }) => ({ outcome, message, errors }))
}

const report = (events: Given[], options?: CallOptions, grpc?: Grpc) =>
  reportEvents(events.map(eventOf), options, grpc)

const started = (sagaId: string): Given => ['SagaStarted', { sagaId, serviceName: 'booking' }]

const recorded = { outcome: EventOutcome.EVENT_OUTCOME_RECORDED, message: 'recorded', errors: '' }
const duplicate = { outcome: EventOutcome.EVENT_OUTCOME_DUPLICATE, message: 'duplicate', errors: '' }

describe('reporting several events in one call', () => {
  it('records each event separately, and answers in the order of the events', async () => {
    const metadata = { 'x-tenant': 'mixed' }
    const events: Given[] = [
      started('m'),
      ['ActivityExecuteStarted', { activityId: 'a', sagaId: 'm', order: -1 }],
      started('m'),
      ['ActivityExecuteStarted', { activityId: 'a', sagaId: 'm', order: 1 }],
      ['ActivityEnded', { activityId: 'a' }, { id: 'x'.repeat(129) }],
      ['ActivityRevoked', { activityId: 'nobodys' }],
      ['ActivityEnded', { activityId: 'a' }],
      ['SagaEnded', { sagaId: 'm' }],
    ]
    expect(await report(events, { metadata })).toEqual([
      recorded,
      {
        outcome: EventOutcome.EVENT_OUTCOME_REJECTED,
        message: 'order must not be negative',
        errors: expect.stringMatching(/^ORDER_INVALID: /),
      },
      duplicate,
      recorded,
      {
        outcome: EventOutcome.EVENT_OUTCOME_REFUSED,
        message: 'refused',
        errors: 'INVALID_PARAMETERS: id is too long (maximum is 128 characters)',
      },
      { ...recorded, message: 'parked' },
      recorded,
      recorded,
    ])
    const log = await readLog(harness.database, 'mixed')
    expect(log.map(({ operation }) => operation)).toEqual([
      'SagaStarted',
      'ActivityExecuteStarted',
      'ActivityRevoked',
      'ActivityEnded',
      'SagaEnded',
    ])
  })

  it('refuses an event without a request, and accepts the other events', async () => {
    const results = await reportEvents([nothing, eventOf(started('beside'))])
    expect(results.map(({ errors }) => errors)).toEqual(['INVALID_PARAMETERS: request is missing', ''])
  })

  it('is repeatable: known events are duplicates, even those of single calls', async () => {
    const metadata = { 'x-tenant': 'repeated' }
    const events: Given[] = [
      started('r'),
      ['ActivityExecuteStarted', { activityId: 'a', sagaId: 'r', parameterData: Buffer.from('{}') }],
      ['ActivityRetried', { activityId: 'a', retries: 1 }, { id: 'retry-1' }],
    ]
    await harness.grpc.report(...(events[0] as [Operation, Fields]), { metadata })
    expect(await report(events, { metadata })).toEqual([duplicate, recorded, recorded])
    expect(await report(events, { metadata })).toEqual([duplicate, duplicate, duplicate])
    expect(await harness.grpc.report('ActivityExecuteStarted', events[1]?.[1] ?? {}, { metadata })).toEqual({
      isSuccess: true,
      message: 'duplicate',
      errors: '',
    })
  })

  it('stores with each event the metadata of a single call', async () => {
    const about = {
      id: 'told-1',
      seq: 7,
      time: new Date('2026-01-02T03:04:05.678Z'),
      attempt: 2,
      tags: ['region=eu', 'no tag'],
      tenant: 'told',
      traceParent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }
    expect(await report([['SagaStarted', { sagaId: 't', serviceName: 'booking' }, about]])).toEqual([
      recorded,
    ])
    expect(await readLog(harness.database, 'told')).toMatchObject([
      { eventId: 'told-1', eventTime: about.time, attempt: 2, traceParent: about.traceParent },
    ])
    const { rows } = await harness.database.pool.query(`SELECT tag FROM saga_tags WHERE tenant = 'told'`)
    expect(rows).toEqual([{ tag: 'region=eu' }])
  })

  it('accepts 1,000 events, and refuses more, and none at all', async () => {
    const events = Array.from({ length: 1000 }, (_, index) => started(`limit-${index}`))
    const metadata = { 'x-tenant': 'limit' }
    expect(await report(events, { metadata })).toEqual(events.map(() => recorded))
    const bad = { code: status.INVALID_ARGUMENT }
    await expect(report([...events, started('over')], { metadata })).rejects.toMatchObject({
      ...bad,
      details: 'events has more than 1000 items',
    })
    await expect(report([])).rejects.toMatchObject({ ...bad, details: 'events is empty' })
    expect(await harness.database.prisma.saga.count({ where: { tenant: 'limit' } })).toBe(1000)
  })

  it('refuses a message over 4 MiB, and does not ask for a retry', async () => {
    const events = [eventOf(['ActivityExecuteAborted', { activityId: 'a', errors: 'x'.repeat(2 ** 22) }])]
    const refusal = await reportEvents(events).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringMatching(/larger than max/),
    })
    expect((refusal as ServiceError).metadata.get('grpc-status-details-bin')).toEqual([])
  })

  it('refuses bytes that are not a message', async () => {
    await expect(harness.grpc.unary(path, Buffer.from([0x0a, 0x7f, 1]))).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    })
  })
})

describe('with SAGA_AUTH=token', () => {
  it('accepts the tokens that may report single events', async () => {
    const tokens = await createTokens(harness.database)
    const service = await startService(harness.serviceUrl, { SAGA_AUTH: 'token' })
    try {
      const as = (token?: string) =>
        report(
          [started('with-token')],
          { metadata: token === undefined ? {} : { 'private-token': token } },
          service.grpc,
        )
      await expect(as()).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
      await expect(as(tokens.unknown)).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
      await expect(as(tokens.reader)).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
      expect(await as(tokens.reporter)).toEqual([recorded])
    } finally {
      await service.close()
    }
  })
})

describe('with a limit of events a second', () => {
  it('counts the events of a call, and asks to retry those over the limit', async () => {
    const service = await startService(harness.serviceUrl, {
      SAGA_RATE_LIMIT_PER_SERVICE: '1',
      SAGA_RATE_LIMIT_BURST: '3',
    })
    try {
      const events = [1, 2, 3, 4, 5, 6].map((index) => started(`rate-${index}`))
      const results = await report(events, {}, service.grpc)
      expect(results.slice(0, 3)).toEqual([recorded, recorded, recorded])
      expect(results.at(-1)).toEqual({
        outcome: EventOutcome.EVENT_OUTCOME_RETRYABLE,
        message: 'temporarily unavailable',
        errors: 'RATE_LIMITED: service booking reports more than 1 events a second',
      })
    } finally {
      await service.close()
    }
  })
})

it('a batch leaves the same rows as separate calls with the same events', async () => {
  let run = 0
  const batches = fc.array(fc.array(randomCall, { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      run += 1
      const [single, batched] = [`single-${run}`, `batched-${run}`]
      const answers: string[] = []
      for (const [operation, fields] of given.flat())
        answers.push(
          (await harness.grpc.report(operation, fields, { metadata: { 'x-tenant': single } })).message,
        )
      const results: string[] = []
      for (const batch of given) {
        const replies = await report(batch, { metadata: { 'x-tenant': batched } })
        results.push(...replies.map(({ message }) => message))
      }
      expect(results).toEqual(answers)
      const logOf = async (tenant: string) =>
        (await readLog(harness.database, tenant)).map(
          ({ operation, request, result, sagaId, activityId }) => [
            operation,
            Buffer.from(request).toString('hex'),
            result,
            sagaId,
            activityId,
          ],
        )
      expect(await logOf(batched)).toEqual(await logOf(single))
      expect(await rowsWithoutTimes(harness.database, batched)).toEqual(
        await rowsWithoutTimes(harness.database, single),
      )
    }),
    { numRuns: 15 },
  )
})
