import {
  ActivityExecuteStartedRequest,
  ActivityRetriedRequest,
  SagaEndedRequest,
} from '@switchyard/contracts/saga'
import { describe, expect, it } from 'vitest'
import { decoders } from './operations.js'

/** Encodes one length-delimited field by hand, so that the test does not rely on the generated code. */
const textField = (number: number, text: string) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(text)]), Buffer.from(text)])

const ids = Buffer.concat([textField(1, 'a'), textField(2, 's')])

describe('each decoder', () => {
  it.each([
    ['SagaStarted', ids, { sagaId: 'a', serviceName: 's', addTime: '' }],
    ['SagaEnded', ids, { sagaId: 'a', serviceName: 's' }],
    ['ActivityExecuteAborted', ids, { activityId: 'a', errors: 's' }],
    [
      'ActivityCompensateAborted',
      Buffer.concat([ids, textField(3, 'e')]),
      { activityId: 'a', sagaId: 's', errors: 'e' },
    ],
    [
      'ActivityEnded',
      Buffer.concat([ids, textField(3, 'r')]),
      { activityId: 'a', sagaId: 's', resultData: Buffer.from('r') },
    ],
    ['ActivityCompensated', textField(1, 'a'), { activityId: 'a' }],
    [
      'ActivityExecuteOvertime',
      Buffer.concat([ids, textField(3, 'e')]),
      { activityId: 'a', sagaId: 's', errors: 'e' },
    ],
    ['ActivityRevoked', textField(1, 'a'), { activityId: 'a' }],
  ] as const)('reads the fields of %s', (operation, bytes, fields) => {
    expect(decoders[operation](bytes)).toEqual({ operation, ...fields })
  })

  it('reads the fields of ActivityExecuteStarted', () => {
    const fields = {
      activityId: 'a',
      sagaId: 's',
      timeOutSeconds: -1,
      parameterData: Buffer.from([0, 255]),
      order: 3,
      addTime: '2020-03-09 05:13:08.123',
    }
    const bytes = ActivityExecuteStartedRequest.encode(fields).finish()
    const operation = 'ActivityExecuteStarted'
    expect(decoders[operation](bytes)).toEqual({ operation, ...fields })
  })

  it('reads the fields of ActivityRetried, and an unknown type as its number', () => {
    const fields = { activityId: 'a', status: 'Executed', retries: 2, activityRetryType: 7 }
    const bytes = ActivityRetriedRequest.encode(fields).finish()
    expect(decoders.ActivityRetried(bytes)).toEqual({ operation: 'ActivityRetried', ...fields })
  })

  it('reads the start time that some clients add to SagaStarted', () => {
    const bytes = Buffer.concat([ids, textField(3, '2020-03-09 05:13:08.123')])
    expect(decoders.SagaStarted(bytes)).toMatchObject({
      sagaId: 'a',
      serviceName: 's',
      addTime: '2020-03-09 05:13:08.123',
    })
  })

  it('reads no start time from a field of another type', () => {
    const varint = Buffer.concat([ids, Buffer.from([0x18, 1])])
    expect(decoders.SagaStarted(varint)).toMatchObject({ addTime: '' })
  })

  it('reads SagaEndedRequest for SagaEnded, with its expiry in place of the service name', () => {
    const bytes = SagaEndedRequest.encode({ sagaId: 's', ExpiresAt: '2020-03-09 05:13:08.123' }).finish()
    expect(decoders.SagaEnded(bytes)).toMatchObject({ sagaId: 's', serviceName: '2020-03-09 05:13:08.123' })
  })

  it.each(Object.keys(decoders) as (keyof typeof decoders)[])(
    'refuses bytes that are not a %s',
    (operation) => {
      for (const bytes of [Buffer.from([0x0a, 0x7f, 0x61]), Buffer.from([0xff]), Buffer.from([0x0f, 0x01])]) {
        expect(() => decoders[operation](bytes)).toThrow('the request is not a message of this operation')
      }
    },
  )

  it('reads an empty message as empty fields', () => {
    expect(decoders.ActivityRevoked(Buffer.alloc(0))).toEqual({
      operation: 'ActivityRevoked',
      activityId: '',
    })
  })
})
