import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLog, rowsWithoutTimes } from '../event-log.js'
import { createTokens, startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
})
afterAll(() => harness?.close())

type Event = Record<string, unknown>

interface Sent {
  token?: string | null
  tenant?: string
  baseUrl?: string
}

function post(body: string, { token = tokens.reporter, tenant, baseUrl = harness.baseUrl }: Sent = {}) {
  return fetch(`${baseUrl}/api/v4/saga_events`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token !== null && { 'PRIVATE-TOKEN': token }),
      ...(tenant !== undefined && { 'X-Tenant': tenant }),
    },
    body,
  })
}

interface Result {
  outcome: string
  message: string
  errors: string
}

async function report(events: unknown[], sent?: Sent): Promise<Result[]> {
  const response = await post(JSON.stringify({ events }), sent)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text).results
}

const started = (sagaId: string, more: Event = {}): Event => ({
  operation: 'SagaStarted',
  saga_id: sagaId,
  service_name: 'booking',
  ...more,
})
const recorded = { outcome: 'recorded', message: 'recorded', errors: '' }
const duplicate = { outcome: 'duplicate', message: 'duplicate', errors: '' }

/** Each of the ten operations with all its fields, and the corresponding gRPC requests. */
const saga: Event[] = [
  started('s'),
  {
    operation: 'ActivityExecuteStarted',
    saga_id: 's',
    activity_id: 'a',
    order: 1,
    time_out_seconds: 30,
    parameter: { seats: 2 },
    add_time: '2026-01-02T03:04:05.678Z',
  },
  { operation: 'ActivityEnded', saga_id: 's', activity_id: 'a', result: 'seat 4A' },
  { operation: 'ActivityExecuteStarted', saga_id: 's', activity_id: 'b', order: 2, parameter_base64: 'AP8=' },
  { operation: 'ActivityExecuteOvertime', saga_id: 's', activity_id: 'b', errors: 'slow' },
  { operation: 'ActivityRetried', activity_id: 'b', retries: 1, status: 'Executing' },
  { operation: 'ActivityExecuteAborted', activity_id: 'b', errors: 'no room' },
  { operation: 'ActivityExecuteStarted', saga_id: 's', activity_id: 'c', order: 3 },
  { operation: 'ActivityRevoked', activity_id: 'c' },
  { operation: 'ActivityRetried', activity_id: 'b', retries: 1, activity_retry_type: 'Compensate' },
  { operation: 'ActivityCompensateAborted', activity_id: 'b', errors: 'try later' },
  { operation: 'ActivityCompensated', activity_id: 'b' },
  { operation: 'ActivityCompensated', activity_id: 'a' },
  { operation: 'SagaEnded', saga_id: 's' },
]

const ofRequest = {
  saga_id: 'sagaId',
  activity_id: 'activityId',
  service_name: 'serviceName',
  order: 'order',
  time_out_seconds: 'timeOutSeconds',
  add_time: 'addTime',
  status: 'status',
  retries: 'retries',
  errors: 'errors',
} as const

const requestOf = (event: Event): Event => {
  const fields = Object.entries(ofRequest).flatMap(([name, field]) =>
    name in event ? [[field, event[name]]] : [],
  )
  const parameter = event.parameter_base64
    ? Buffer.from(String(event.parameter_base64), 'base64')
    : event.parameter && Buffer.from(JSON.stringify(event.parameter))
  return {
    ...Object.fromEntries(fields),
    ...(parameter !== undefined && { parameterData: parameter }),
    ...(event.result !== undefined && { resultData: Buffer.from(String(event.result)) }),
    ...(event.activity_retry_type === 'Compensate' && { activityRetryType: 1 }),
  }
}

describe('POST /saga_events', () => {
  it('records every operation in the order of the events, like the same gRPC calls', async () => {
    expect(await report(saga, { tenant: 'http' })).toEqual(saga.map(() => recorded))
    const log = await readLog(harness.database, 'http')
    expect(log.map(({ operation }) => operation)).toEqual(saga.map(({ operation }) => operation))
    for (const event of saga)
      await harness.grpc.report(event.operation as 'SagaStarted', requestOf(event), {
        metadata: { 'x-tenant': 'grpc' },
      })
    const requests = (entries: typeof log) =>
      entries.map(({ request }) => Buffer.from(request).toString('hex'))
    expect(requests(log)).toEqual(requests(await readLog(harness.database, 'grpc')))
    expect(await rowsWithoutTimes(harness.database, 'http')).toEqual(
      await rowsWithoutTimes(harness.database, 'grpc'),
    )
  })

  it('stores the metadata of each event, and uses the tenant of the header for the others', async () => {
    const about = {
      event_id: 'told-1',
      event_seq: 7,
      event_time: '2026-01-02T03:04:05.678Z',
      attempt: 2,
      tags: ['region=eu', 'no tag'],
      trace_parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }
    const events = [started('t', { ...about, tenant: 'told' }), started('u')]
    expect(await report(events, { tenant: 'header' })).toEqual([recorded, recorded])
    expect(await readLog(harness.database, 'told')).toMatchObject([
      {
        eventId: 'told-1',
        eventTime: new Date(about.event_time),
        attempt: 2,
        traceParent: about.trace_parent,
      },
    ])
    expect(await readLog(harness.database, 'header')).toMatchObject([{ sagaId: 'u' }])
  })

  it('answers a repeated body with duplicates, even for events without ids and for gRPC calls', async () => {
    const sent = { tenant: 'repeated' }
    await harness.grpc.report(
      'SagaStarted',
      { sagaId: 'r', serviceName: 'booking' },
      { metadata: { 'x-tenant': 'repeated' } },
    )
    const retry = { operation: 'ActivityRetried', activity_id: 'b', retries: 1, event_id: 'retry-1' }
    const events = [
      started('r'),
      { operation: 'ActivityExecuteStarted', saga_id: 'r', activity_id: 'a' },
      retry,
    ]
    expect((await report(events, sent)).map(({ outcome }) => outcome)).toEqual([
      'duplicate',
      'recorded',
      'recorded',
    ])
    expect(await report(events, sent)).toEqual([duplicate, duplicate, duplicate])
    expect(await readLog(harness.database, 'repeated')).toHaveLength(3)
  })

  it('treats two ids that differ only in halves of surrogate pairs as one id', async () => {
    const events = ['\ud800', '\udfff'].map((half) =>
      started(`half-${half.length}`, { event_id: `x${half}` }),
    )
    expect(await report(events, { tenant: 'halves' })).toEqual([recorded, duplicate])
    expect(await report(events, { tenant: 'halves' })).toEqual([duplicate, duplicate])
  })

  it('stores payloads exactly as the body has them: numbers, order of names, and whitespace', async () => {
    const result = '{ "10": 1.0, "9":\n [3544790567247868102, 1e400, -0, "]},\\"é"] }'
    const values = ['3544790567247868102', '1e400', '1.0', 'null', result, '"text \\u00e9"']
    const events = values.map(
      (value, index) =>
        `{"operation":"ActivityEnded","saga_id":"kept","activity_id":"kept-${index}","result":${value}}`,
    )
    events.unshift(
      `{"parameter" : ${result} ,"operation":"ActivityExecuteStarted","saga_id":"kept","activity_id":"kept-0"}`,
    )
    const response = await post(`{"events":[${events.join(', ')}]}`, { tenant: 'kept' })
    expect(await response.json()).toEqual({ results: events.map(() => recorded) })
    const bytesOf = async (activity: number, kind: string) => {
      const path = `sagas/kept/activities/kept-${activity}/payloads/${kind}?tenant=kept`
      const headers = { 'PRIVATE-TOKEN': tokens.reader }
      return (await fetch(`${harness.baseUrl}/api/v4/${path}`, { headers })).text()
    }
    const stored = await Promise.all(values.map((_, index) => bytesOf(index, 'result')))
    expect(stored).toEqual([...values.slice(0, -1), 'text é'])
    expect(await bytesOf(0, 'parameter')).toBe(result)
  })

  it('refuses ids and numbers that JSON rounds, because two of them would become equal', async () => {
    const event = (field: string) =>
      `{"operation":"SagaStarted","saga_id":"rounded","service_name":"booking",${field}}`
    const fields = [
      '"event_id":3544790567247868102',
      '"event_seq":3544790567247868102',
      '"attempt":1e400',
      '"tags":[1e400]',
    ]
    const response = await post(`{"events":[${fields.map(event).join()}]}`, { tenant: 'rounded' })
    expect(await response.json()).toEqual({
      results: ['event_id', 'event_seq', 'attempt', 'tags[0]'].map((name) => ({
        outcome: 'refused',
        message: 'refused',
        errors: `INVALID_PARAMETERS: ${name} is invalid`,
      })),
    })
  })

  it('preserves blanks around a tag and around the id of a parent', async () => {
    const event = started('blanks', { tags: ['note= padded '], parent_saga_id: ' parent ' })
    expect(await report([event], { tenant: 'blanks' })).toEqual([recorded])
    const response = await fetch(`${harness.baseUrl}/api/v4/sagas/blanks?tenant=blanks`, {
      headers: { 'PRIVATE-TOKEN': tokens.reader },
    })
    expect(await response.json()).toMatchObject({ tags: ['note= padded '], parent_saga_id: ' parent ' })
  })

  it('refuses only the bad event, with a code, and accepts the others', async () => {
    const refused = (errors: string) => ({
      outcome: 'refused',
      message: 'refused',
      errors: `INVALID_PARAMETERS: ${errors}`,
    })
    const results = await report([
      started('good'),
      null,
      { saga_id: 'x' },
      { operation: 'OperatorResolved', saga_id: 'good' },
      started('typed', { saga_id: 7 }),
      started('long', { event_id: 'x'.repeat(129) }),
      { operation: 'ActivityExecuteStarted', saga_id: 'good', activity_id: 'a', order: 2 ** 31 },
      { operation: 'ActivityEnded', activity_id: 'a', result_base64: 'no base64' },
      { operation: 'ActivityExecuteStarted', saga_id: 'good', activity_id: 'a', order: -1 },
      started(''),
      { operation: 'SagaEnded', saga_id: 'good' },
    ])
    expect(results).toEqual([
      recorded,
      refused('the event is not an object'),
      refused('operation is missing, operation does not have a valid value'),
      refused('operation does not have a valid value'),
      refused('saga_id is invalid'),
      refused('id is too long (maximum is 128 characters)'),
      refused('order is invalid'),
      refused('result_base64 is invalid'),
      {
        outcome: 'rejected',
        message: 'order must not be negative',
        errors: expect.stringMatching(/^ORDER_INVALID: /),
      },
      {
        outcome: 'rejected',
        message: 'sagaId must not be empty',
        errors: expect.stringMatching(/^SAGA_ID_REQUIRED: /),
      },
      recorded,
    ])
  })

  it('accepts 1,000 events, and refuses a body with more, with none or with something else, storing nothing', async () => {
    const sent = { tenant: 'limit' }
    const events = Array.from({ length: 1001 }, (_, index) => started(`limit-${index}`))
    for (const [body, error] of [
      [JSON.stringify({ events }), 'events has more than 1000 items'],
      ['{"events":[]}', 'events is empty'],
      ['{"events":{}}', 'events is invalid'],
      ['{}', 'events is missing'],
      ['[', 'the body is not valid JSON'],
    ] as const) {
      const response = await post(body, sent)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error })
    }
    expect(await readLog(harness.database, 'limit')).toEqual([])
    expect(await report(events.slice(1), sent)).toEqual(events.slice(1).map(() => recorded))
  })

  it('refuses a repeated or impossible tenant', async () => {
    for (const tenant of ['a, b', 'x'.repeat(129), 'é']) {
      const response = await post(JSON.stringify({ events: [started('x')] }), { tenant })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: expect.stringContaining('x-tenant') })
    }
  })

  it('refuses a body over 1 MiB', async () => {
    const events = [started('large', { errors: 'x'.repeat(1024 * 1024) })]
    expect((await post(JSON.stringify({ events }))).status).toBe(413)
  })

  it('refuses callers without a token, with an unknown one, and with the wrong scope', async () => {
    const body = JSON.stringify({ events: [started('nobody')] })
    const statusOf = async (token: string | null) => (await post(body, { token })).status
    expect(await Promise.all([null, tokens.unknown, tokens.reader, tokens.user].map(statusOf))).toEqual([
      401, 401, 403, 403,
    ])
    expect(await Promise.all([tokens.reporter, tokens.administrator].map(statusOf))).toEqual([200, 200])
  })
})

describe('with a limit of events a second', () => {
  it('asks to retry every event after the first one over the limit', async () => {
    const service = await startService(harness.serviceUrl, {
      SAGA_RATE_LIMIT_PER_SERVICE: '1000',
      SAGA_RATE_LIMIT_BURST: '3',
    })
    try {
      const events = Array.from({ length: 500 }, (_, index) => started(`rate-${index}`))
      const outcomes = (await report(events, service)).map(({ outcome }) => outcome)
      const first = outcomes.indexOf('retryable')
      expect(first).toBeGreaterThanOrEqual(3)
      expect(new Set(outcomes.slice(0, first))).toEqual(new Set(['recorded']))
      expect(new Set(outcomes.slice(first))).toEqual(new Set(['retryable']))
    } finally {
      await service.close()
    }
  })
})
