import { describe, expect, it } from 'vitest'
import { parseEventTime } from './parse-event-time.js'
import { SagaRejection } from './rejection.js'
import { type RawSagaEvent, validateSagaEvent } from './validate-event.js'

const started = { operation: 'SagaStarted', sagaId: 's', serviceName: 'orders' } as const
const ended = { operation: 'SagaEnded', sagaId: 's', serviceName: '' } as const
const execute = {
  operation: 'ActivityExecuteStarted',
  activityId: 'a',
  sagaId: 's',
  timeOutSeconds: 0,
  parameterData: Buffer.alloc(0),
  order: 0,
  addTime: '',
} as const
const retried = {
  operation: 'ActivityRetried',
  activityId: 'a',
  status: '',
  retries: 0,
  activityRetryType: 0,
} as const
const zeroGuid = '00000000-0000-0000-0000-000000000000'

const onActivity: RawSagaEvent[] = [
  execute,
  retried,
  { operation: 'ActivityExecuteAborted', activityId: 'a', errors: '' },
  { operation: 'ActivityCompensateAborted', activityId: 'a', sagaId: '', errors: '' },
  { operation: 'ActivityEnded', activityId: 'a', sagaId: '', resultData: Buffer.alloc(0) },
  { operation: 'ActivityCompensated', activityId: 'a' },
  { operation: 'ActivityExecuteOvertime', activityId: 'a', sagaId: '', errors: '' },
  { operation: 'ActivityRevoked', activityId: 'a' },
]

function rejectionOf(raw: RawSagaEvent): SagaRejection {
  try {
    validateSagaEvent(raw)
  } catch (error) {
    if (error instanceof SagaRejection) return error
    throw error
  }
  throw new Error('was not rejected')
}

describe('validateSagaEvent rejects what can never be valid', () => {
  it.each([
    [{ ...started, sagaId: ' ' }, 'SAGA_ID_REQUIRED'],
    [{ ...started, sagaId: zeroGuid }, 'SAGA_ID_REQUIRED'],
    [{ ...ended, sagaId: '' }, 'SAGA_ID_REQUIRED'],
    [{ ...execute, sagaId: '' }, 'SAGA_ID_REQUIRED'],
    [{ ...started, sagaId: 'x'.repeat(129) }, 'ID_INVALID'],
    [{ ...started, sagaId: 'a\0b' }, 'ID_INVALID'],
    [{ ...started, sagaId: 'a\u0085b' }, 'ID_INVALID'],
    [{ ...started, sagaId: 'a\ufffdb' }, 'ID_INVALID'],
    [{ ...started, serviceName: ' ' }, 'SERVICE_NAME_REQUIRED'],
    [{ ...started, addTime: 'yesterday' }, 'ADD_TIME_INVALID'],
    [{ ...execute, addTime: '2026-02-30 00:00:00.000' }, 'ADD_TIME_INVALID'],
    [{ ...execute, timeOutSeconds: -1 }, 'TIMEOUT_INVALID'],
    [{ ...execute, order: -1 }, 'ORDER_INVALID'],
    [{ ...retried, retries: -1 }, 'RETRIES_INVALID'],
    [{ ...retried, activityRetryType: 2 }, 'RETRY_TYPE_INVALID'],
    [{ ...retried, activityRetryType: -1 }, 'RETRY_TYPE_INVALID'],
    [{ ...retried, status: 'Done' }, 'RETRY_STATUS_INVALID'],
    [{ ...retried, status: 'Compensated' }, 'RETRY_STATUS_INVALID'],
    [{ ...retried, status: 'Executed', activityRetryType: 1 }, 'RETRY_STATUS_INVALID'],
    [{ ...retried, status: '0' }, 'RETRY_STATUS_INVALID'],
    [{ ...retried, status: 'constructor' }, 'RETRY_STATUS_INVALID'],
  ] as const)('%# %j → %s', (raw, code) => {
    const rejection = rejectionOf(raw)
    expect(rejection.code).toBe(code)
    expect(rejection.errors).toMatch(new RegExp(`^${code}: .+`))
    expect(rejection.message).not.toBe('')
  })

  it.each(onActivity)('$operation without an activity id', (raw) => {
    expect(rejectionOf({ ...raw, activityId: zeroGuid } as RawSagaEvent).code).toBe('ACTIVITY_ID_REQUIRED')
  })
})

describe('validateSagaEvent reads', () => {
  it.each(onActivity)('$operation with only its required fields', (raw) => {
    expect(validateSagaEvent({ ...raw, activityId: ' a ' } as RawSagaEvent)).toMatchObject({
      operation: raw.operation,
      activityId: 'a',
    })
  })

  it('ids of 128 characters, and a blank service name where that is allowed', () => {
    expect(validateSagaEvent({ ...started, sagaId: 'x'.repeat(128) })).toMatchObject({
      serviceName: 'orders',
    })
    expect(validateSagaEvent({ ...started, serviceName: '' }, { serviceNameRequired: false })).toMatchObject({
      serviceName: null,
    })
  })

  it('the second field of SagaEnded as an expiry when it is a time, else as a service name', () => {
    expect(validateSagaEvent({ ...ended, serviceName: '2020-03-09 05:13:08.123' })).toMatchObject({
      serviceName: null,
      expiresAt: new Date('2020-03-09T05:13:08.123Z'),
    })
    expect(validateSagaEvent({ ...ended, serviceName: 'orders' })).toMatchObject({
      serviceName: 'orders',
      expiresAt: null,
    })
    expect(validateSagaEvent(ended)).toMatchObject({ serviceName: null, expiresAt: null })
  })

  it('a blank or all-zero saga id of an activity report as no saga id', () => {
    const raw = { operation: 'ActivityExecuteOvertime', activityId: 'a', errors: 'x\0y' } as const
    expect(validateSagaEvent({ ...raw, sagaId: zeroGuid })).toMatchObject({
      sagaId: null,
      errors: 'x\uFFFDy',
    })
  })

  it.each([
    ['', 0, 'Executing', false],
    ['', 1, 'Compensating', false],
    ['executed', 0, 'Executed', true],
    ['ExecutingOvertime', 0, 'Overtime', true],
    ['REVOKED', 0, 'Revoked', true],
    [' CompensateAborted ', 1, 'CompensateAborted', true],
    ['2', 0, 'Executed', true],
    ['4', 1, 'Compensated', true],
    ['8', 0, 'Overtime', true],
  ])('retry status %j of type %i as %s', (status, activityRetryType, expected, statusNamed) => {
    expect(validateSagaEvent({ ...retried, status, activityRetryType })).toMatchObject({
      status: expected,
      statusNamed,
    })
  })
})

describe('parseEventTime', () => {
  it.each([
    ['2020-03-09 05:13:08.123', '2020-03-09T05:13:08.123Z'],
    ['2020-03-09T05:13:08Z', '2020-03-09T05:13:08.000Z'],
    ['2020-03-09 05:13:08.1234567', '2020-03-09T05:13:08.123Z'],
    ['2020-03-09 05:13:08.5', '2020-03-09T05:13:08.500Z'],
    ['2020-03-09T13:13:08+08:00', '2020-03-09T05:13:08.000Z'],
    ['2020-03-08 23:13:08.1 -0600', '2020-03-09T05:13:08.100Z'],
    ['2024-02-29 00:00:00', '2024-02-29T00:00:00.000Z'],
  ])('%s', (text, iso) => expect(parseEventTime(text)?.toISOString()).toBe(iso))

  it.each([
    '',
    'orders',
    '2020-03-09',
    '2023-02-29 00:00:00',
    '2020-13-01 00:00:00',
    '2020-03-09 24:00:00',
    '2020-03-09 05:60:08',
    '2020-03-09 05:13:08.12345678',
    '2020-03-09T05:13:08+15:00',
  ])('refuses %j', (text) => expect(parseEventTime(text)).toBeNull())
})
