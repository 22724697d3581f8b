import { describe, expect, it } from 'vitest'
import {
  ActivityEndedRequest,
  ActivityExecuteStartedRequest,
  ActivityRetriedRequest,
  CommonResponse,
  SagaEndedRequest,
  SagaService,
} from './gen/saga.js'

/** Encodes one length-delimited field by hand, so that the test does not rely on the generated code. */
const textField = (number: number, text: string) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(text)]), Buffer.from(text)])

const operations = [
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
]

describe('the saga contract in bytes', () => {
  it('has exactly the ten unary operations under the contract path', () => {
    const methods = Object.values(SagaService)
    expect(methods.map((method) => method.path).sort()).toEqual(
      operations.map((operation) => `/svc.Sagas.Server.Grpc.Saga/${operation}`).sort(),
    )
    expect(methods.some((method) => method.requestStream || method.responseStream)).toBe(false)
  })

  it('reads SagaEnded as SagaStartedRequest, so that an expiry time arrives as the service name', () => {
    const sent = SagaEndedRequest.encode({ sagaId: 's-1', ExpiresAt: '2020-03-09 05:13:08.123' }).finish()
    expect(Buffer.from(sent)).toEqual(
      Buffer.concat([textField(1, 's-1'), textField(2, '2020-03-09 05:13:08.123')]),
    )
    expect(SagaService.sagaEnded.requestDeserialize(Buffer.from(sent))).toMatchObject({
      sagaId: 's-1',
      serviceName: '2020-03-09 05:13:08.123',
    })
  })

  it('reads the field numbers of ActivityExecuteStarted', () => {
    const sent = Buffer.concat([
      textField(1, 'a-1'),
      textField(2, 's-1'),
      Buffer.from([0x18, 30]),
      textField(4, '{}'),
      Buffer.from([0x28, 2]),
      textField(6, '2020-03-09 05:13:08.123'),
    ])
    expect(ActivityExecuteStartedRequest.decode(sent)).toMatchObject({
      activityId: 'a-1',
      sagaId: 's-1',
      timeOutSeconds: 30,
      parameterData: Buffer.from('{}'),
      order: 2,
      addTime: '2020-03-09 05:13:08.123',
    })
  })

  it('reads the field numbers of ActivityRetried and ActivityEnded, and keeps an unknown retry type as its number', () => {
    const retried = Buffer.concat([
      textField(1, 'a-1'),
      textField(2, 'Executed'),
      Buffer.from([0x18, 3, 0x20, 7]),
    ])
    expect(ActivityRetriedRequest.decode(retried)).toMatchObject({
      activityId: 'a-1',
      status: 'Executed',
      retries: 3,
      activityRetryType: 7,
    })
    const ended = Buffer.concat([textField(1, 'a-1'), textField(2, 's-1'), textField(3, 'ok')])
    expect(ActivityEndedRequest.decode(ended)).toMatchObject({
      activityId: 'a-1',
      sagaId: 's-1',
      resultData: Buffer.from('ok'),
    })
  })

  it('answers with the field numbers of CommonResponse', () => {
    const bytes = CommonResponse.encode({ isSuccess: true, message: 'recorded', errors: 'e' }).finish()
    expect(Buffer.from(bytes)).toEqual(
      Buffer.concat([Buffer.from([0x08, 1]), textField(2, 'recorded'), textField(3, 'e')]),
    )
  })
})
