import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Activity } from './activity.js'
import { applyActivityEvent } from './apply-activity-event.js'
import { applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
import { type SagaEvent, sagaIdOf } from './events.js'
import { deriveSagaState, type Saga } from './saga.js'
import { type RawSagaEvent, validateSagaEvent } from './validate-event.js'

const start: RawSagaEvent = { operation: 'SagaStarted', sagaId: 's', serviceName: 'orders' }
const end: RawSagaEvent = { operation: 'SagaEnded', sagaId: 's', serviceName: '2026-01-01 00:00:00.000' }
const execute = (activityId: string, order = 0): RawSagaEvent => ({
  operation: 'ActivityExecuteStarted',
  activityId,
  sagaId: 's',
  timeOutSeconds: 2,
  parameterData: Buffer.from(activityId),
  order,
  addTime: '',
})
const done = (activityId: string): RawSagaEvent => ({
  operation: 'ActivityEnded',
  activityId,
  sagaId: '',
  resultData: Buffer.alloc(0),
})
const abort = (activityId: string): RawSagaEvent => ({
  operation: 'ActivityExecuteAborted',
  activityId,
  errors: 'e',
})
const revoke = (activityId: string): RawSagaEvent => ({ operation: 'ActivityRevoked', activityId })
const overtime = (activityId: string): RawSagaEvent => ({
  operation: 'ActivityExecuteOvertime',
  activityId,
  sagaId: 's',
  errors: 'o',
})
const undone = (activityId: string): RawSagaEvent => ({ operation: 'ActivityCompensated', activityId })
const undoFailed = (activityId: string, sagaId: string): RawSagaEvent => ({
  operation: 'ActivityCompensateAborted',
  activityId,
  sagaId,
  errors: 'c',
})
const retry = (activityId: string, retries: number, activityRetryType: 0 | 1): RawSagaEvent => ({
  operation: 'ActivityRetried',
  activityId,
  status: '',
  retries,
  activityRetryType,
})

/** Events of real orchestrators, and the resulting status, outcome and activity statuses. */
const traces: Record<string, [events: RawSagaEvent[], final: string]> = {
  'happy path': [
    [start, execute('a'), done('a'), execute('b', 1), done('b'), end],
    'Ended succeeded Executed Executed',
  ],
  revoke: [
    [start, execute('a'), done('a'), execute('b', 1), revoke('b'), undone('a'), end],
    'Ended compensated Compensated Revoked',
  ],
  'abort and compensation': [
    [start, execute('a'), done('a'), execute('b', 1), abort('b'), undone('b'), undone('a'), end],
    'Ended compensated Compensated Compensated',
  ],
  overtime: [
    [start, execute('a'), done('a'), execute('b', 1), overtime('b'), undone('b'), undone('a'), end],
    'Ended compensated Compensated Compensated',
  ],
  'compensation tried again': [
    [start, execute('a'), abort('a'), undoFailed('a', ''), retry('a', 1, 1), undone('a'), end],
    'Ended compensated Compensated',
  ],
  'compensation given up': [
    [start, execute('a'), done('a'), execute('b', 1), abort('b'), undone('b'), undoFailed('a', 's')],
    'Error null CompensateAborted Compensated',
  ],
  'retry succeeds': [
    [start, execute('a'), abort('a'), retry('a', 1, 0), done('a'), end],
    'Ended succeeded Executed',
  ],
  'retry fails': [
    [start, execute('a'), abort('a'), retry('a', 1, 0), abort('a'), undone('a'), end],
    'Ended compensated Compensated',
  ],
  'acknowledgement lost': [
    [start, execute('a'), done('a'), abort('a'), undone('a'), end],
    'Ended compensated Compensated',
  ],
  'revoked with a failed compensation': [
    [start, execute('a'), done('a'), execute('b', 1), revoke('b'), undoFailed('a', ''), end],
    'Ended inconsistent CompensateAborted Revoked',
  ],
  'overtime, nothing after it': [[start, execute('a'), overtime('a')], 'Overtime null Overtime'],
}

/** Applies every event in order, one second apart, as the reporter stores them. */
function replay(events: readonly SagaEvent[]) {
  let saga: Saga | null = null
  const activities = new Map<string, Activity>()
  for (const [second, event] of events.entries()) {
    const receivedAt = new Date(second * 1000)
    if (event.operation === 'SagaStarted' || event.operation === 'SagaEnded') {
      saga = applySagaEvent(saga, event, receivedAt).saga
    } else if ('activityId' in event) {
      const { activity } = applyActivityEvent(activities.get(event.activityId) ?? null, event, receivedAt)
      activities.set(activity.id, activity)
      if (sagaIdOf(event)) saga = noteActivityEvent(saga, 's', receivedAt)
    }
    saga =
      saga &&
      deriveSagaState(
        saga,
        [...activities.values()].filter((activity) => activity.sagaId === 's'),
      )
  }
  const sorted = [...activities.values()].sort((a, b) => a.id.localeCompare(b.id))
  return { saga: saga as Saga, activities: sorted }
}

/** Removes the times of receipt, so that only the facts are compared. */
function withoutReceipt({ saga, activities }: ReturnType<typeof replay>) {
  const presence = (row: object) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([key]) => key !== 'firstSeenAt' && key !== 'lastEventAt' && key !== 'late')
        .map(([key, value]) => [key, value instanceof Date && key !== 'expiresAt' ? 'known' : value]),
    )
  return { saga: presence(saga), activities: activities.map(presence) }
}

describe.each(Object.entries(traces))('%s', (_, [raw, final]) => {
  const events = raw.map((event) => validateSagaEvent(event))
  const inOrder = replay(events)

  it(`ends as ${final}`, () => {
    const { saga, activities } = inOrder
    expect([saga.status, `${saga.outcome}`, ...activities.map((a) => a.status)].join(' ')).toBe(final)
  })

  it('results in the same facts in any order, with any event repeated', () => {
    const shuffled = fc
      .array(fc.constantFrom(...events), { maxLength: events.length })
      .chain((again) =>
        fc.shuffledSubarray([...events, ...again], { minLength: events.length + again.length }),
      )
    fc.assert(
      fc.property(shuffled, (order) => {
        expect(withoutReceipt(replay(order))).toEqual(withoutReceipt(inOrder))
      }),
      { numRuns: 500 },
    )
  })
})
