import { SagaService } from '@switchyard/contracts/saga'
import { describe, expect, it } from 'vitest'
import { type EncodedEvent, encoders } from './events.js'
import { createEventId } from './identified-event.js'

const saga = { sagaId: 's' }
const activity = { ...saga, activityId: 'a' }

/** Returns the event that the reporter reads. */
const decoded = ({ operation, request }: EncodedEvent) => {
  const { requestSerialize, requestDeserialize } = SagaService[operation]
  const serialize: (message: never) => Buffer = requestSerialize
  return {
    operation: `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
    ...requestDeserialize(serialize(request as never)),
  }
}

describe('the ten operations', () => {
  it.each([
    [
      encoders.sagaStarted(saga, 'booking'),
      { operation: 'SagaStarted', sagaId: 's', serviceName: 'booking' },
    ],
    [encoders.sagaStarted({ ...saga, serviceName: 'x' }, 'booking'), { serviceName: 'x' }],
    [encoders.sagaEnded(saga), { operation: 'SagaEnded', sagaId: 's', serviceName: '' }],
    [
      encoders.activityExecuteStarted({
        ...activity,
        order: 2,
        timeOutSeconds: 30,
        parameter: { seats: 2 },
        time: new Date(0),
      }),
      {
        operation: 'ActivityExecuteStarted',
        activityId: 'a',
        sagaId: 's',
        order: 2,
        timeOutSeconds: 30,
        parameterData: Buffer.from('{"seats":2}'),
        addTime: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      encoders.activityEnded({ ...activity, result: Buffer.from([0, 255]) }),
      { operation: 'ActivityEnded', activityId: 'a', sagaId: 's', resultData: Buffer.from([0, 255]) },
    ],
    [encoders.activityEnded({ ...activity, result: 'text' }), { resultData: Buffer.from('text') }],
    [encoders.activityEnded(activity), { resultData: Buffer.alloc(0) }],
    [
      encoders.activityRetried({ ...activity, phase: 'compensate', retries: 3 }),
      { operation: 'ActivityRetried', activityId: 'a', status: '', retries: 3, activityRetryType: 1 },
    ],
    [
      encoders.activityExecuteAborted({ ...activity, error: 'no seat' }),
      { operation: 'ActivityExecuteAborted', errors: 'no seat' },
    ],
    [
      encoders.activityExecuteOvertime({ ...activity, error: 'slow' }),
      { operation: 'ActivityExecuteOvertime', sagaId: 's', errors: 'slow' },
    ],
    [
      encoders.activityCompensateAborted({ ...activity, final: false }),
      { operation: 'ActivityCompensateAborted', sagaId: '' },
    ],
    [encoders.activityCompensateAborted({ ...activity, final: true }), { sagaId: 's', errors: '' }],
    [encoders.activityCompensated(activity), { operation: 'ActivityCompensated', activityId: 'a' }],
    [encoders.activityRevoked(activity), { operation: 'ActivityRevoked', activityId: 'a' }],
  ])('are written as the reporter reads them (%#)', (event, expected) => {
    expect(decoded(event)).toMatchObject(expected)
  })
})

it('makes event ids that are UUIDs of version 7 and sort by time', () => {
  const ids = [1, 1_700_000_000_000, 1_900_000_000_000].map(createEventId)
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(Array.from({ length: 1000 }, () => createEventId(1))).size).toBe(1000)
})
