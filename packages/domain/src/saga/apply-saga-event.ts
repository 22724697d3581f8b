import type { EventResult, SagaEnded, SagaLifecycleEvent, SagaStarted } from './events.js'
import { SagaRejection } from './rejection.js'
import { type Saga, unseenSaga } from './saga.js'

export interface AppliedSagaEvent {
  /** Status and outcome are as before: see settleSaga. */
  saga: Saga
  result: EventResult
}

/**
 * Adds what SagaStarted or SagaEnded tells to a saga. The given saga is not changed; when the event told nothing new
 * (`duplicate`), it is returned as it is.
 *
 * @param saga null when this is the first event about it; its status must be up to date.
 * @throws SagaRejection (SAGA_SERVICE_MISMATCH) when the event names another service than the saga's.
 */
export function applySagaEvent(
  saga: Saga | null,
  event: SagaLifecycleEvent,
  receivedAt: Date,
): AppliedSagaEvent {
  const before = saga ?? unseenSaga(event.sagaId, receivedAt)
  refuseOtherService(before, event)
  const after =
    event.operation === 'SagaStarted' ? started(before, event, receivedAt) : ended(before, event, receivedAt)
  if (saga && !differs(saga, after)) return { saga, result: 'duplicate' }
  return {
    saga: { ...after, ...seen(before, receivedAt) },
    result: isLate(before, event) ? 'late' : 'recorded',
  }
}

/** Notes that an event about one of its activities named the saga. */
export function noteActivityEvent(saga: Saga | null, sagaId: string, receivedAt: Date): Saga {
  const before = saga ?? unseenSaga(sagaId, receivedAt)
  return { ...before, ...seen(before, receivedAt), late: before.late || before.endedAt !== null }
}

/** The name that SagaStarted gave is the saga's; before that, an earlier SagaEnded may have given one. */
function refuseOtherService(saga: Saga, event: SagaLifecycleEvent) {
  const settled = event.operation === 'SagaEnded' || saga.startedAt !== null
  if (settled && saga.serviceName && event.serviceName && saga.serviceName !== event.serviceName) {
    throw new SagaRejection('SAGA_SERVICE_MISMATCH', `saga ${saga.id} is of another service`)
  }
}

const started = (before: Saga, event: SagaStarted, receivedAt: Date): Saga => ({
  ...before,
  startedAt: before.startedAt ?? receivedAt,
  addTime: before.addTime ?? event.addTime,
  serviceName: event.serviceName ?? before.serviceName,
})

const ended = (before: Saga, event: SagaEnded, receivedAt: Date): Saga => ({
  ...before,
  endedAt: before.endedAt ?? receivedAt,
  expiresAt: later(before.expiresAt, event.expiresAt),
  serviceName: before.serviceName ?? event.serviceName,
})

const later = (a: Date | null, b: Date | null): Date | null => (a && (!b || a >= b) ? a : b)

const seen = (saga: Saga, receivedAt: Date) => ({
  lastEventAt: receivedAt > saga.lastEventAt ? receivedAt : saga.lastEventAt,
})

/** The fact is kept, but cannot change the status any more. */
const isLate = (before: Saga, event: SagaLifecycleEvent): boolean =>
  before.status === 'Error' || (event.operation === 'SagaStarted' && before.endedAt !== null)

const differs = (a: Saga, b: Saga): boolean =>
  (Object.keys(b) as (keyof Saga)[]).some((key) => a[key] !== b[key])
