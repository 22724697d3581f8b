import {
  type EventResult,
  isOperatorEvent,
  type OperatorResolutionUndone,
  type OperatorResolved,
  type SagaEnded,
  type SagaLifecycleEvent,
  type SagaStarted,
} from './events.js'
import { SagaRejection } from './rejection.js'
import { type Saga, unseenSaga } from './saga.js'

export interface AppliedSagaEvent {
  /** Status and outcome are not updated yet; see `deriveSagaState`. */
  saga: Saga
  result: EventResult
}

/**
 * Applies SagaStarted, SagaEnded or an event of an operator to a saga. The given saga is not changed; it is
 * returned when the event contains nothing new (`duplicate`).
 *
 * @param saga null: this is the first event of the saga; otherwise its status must be up to date
 * @throws SagaRejection (SAGA_SERVICE_MISMATCH) when the event names another service than that of the saga
 */
export function applySagaEvent(
  saga: Saga | null,
  event: SagaLifecycleEvent,
  receivedAt: Date,
): AppliedSagaEvent {
  const before = saga ?? unseenSaga(event.sagaId, receivedAt)
  refuseOtherService(before, event)
  const after = { ...before }
  addFact(after, event, receivedAt)
  if (saga && !differs(saga, after)) return { saga, result: 'duplicate' }
  updateLastEventAt(after, receivedAt)
  return { saga: after, result: isLate(before, event) ? 'late' : 'recorded' }
}

/** Least time between two updates of the saga's `lastEventAt` by activity events. */
export const activityEventNotedAfterMs = 10_000

/**
 * Records in a saga that an event of one of its activities was received. An ordinary event leaves the saga
 * unchanged, so that only the row of the activity is written.
 */
export function noteActivityEvent(saga: Saga | null, sagaId: string, receivedAt: Date): Saga {
  if (saga === null) return unseenSaga(sagaId, receivedAt)
  const late = saga.late || saga.endedAt !== null
  const olderMs = receivedAt.getTime() - saga.lastEventAt.getTime()
  if (late === saga.late && olderMs < activityEventNotedAfterMs) return saga
  const noted = { ...saga, late }
  updateLastEventAt(noted, receivedAt)
  return noted
}

function addFact(next: Saga, event: SagaLifecycleEvent, receivedAt: Date): void {
  if (event.operation === 'SagaStarted') start(next, event, receivedAt)
  else if (event.operation === 'SagaEnded') end(next, event, receivedAt)
  else if (event.operation === 'OperatorResolved') resolve(next, event, receivedAt)
  else undoResolution(next, event)
}

/**
 * Refuses an event with another service name. The name of SagaStarted is final; it may replace a name from an
 * earlier SagaEnded.
 */
function refuseOtherService(saga: Saga, event: SagaLifecycleEvent) {
  if (isOperatorEvent(event)) return
  const isFinal = event.operation === 'SagaEnded' || saga.startedAt !== null
  if (isFinal && saga.serviceName && event.serviceName && saga.serviceName !== event.serviceName) {
    throw new SagaRejection('SAGA_SERVICE_MISMATCH', `saga ${saga.id} is of another service`)
  }
}

function start(next: Saga, event: SagaStarted, receivedAt: Date): void {
  next.startedAt ??= receivedAt
  next.addTime ??= event.addTime
  next.serviceName = event.serviceName ?? next.serviceName
}

function end(next: Saga, event: SagaEnded, receivedAt: Date): void {
  next.endedAt ??= receivedAt
  next.expiresAt = later(next.expiresAt, event.expiresAt)
  next.serviceName ??= event.serviceName
}

function resolve(next: Saga, event: OperatorResolved, receivedAt: Date): void {
  next.resolvedAt = later(next.resolvedAt, receivedAt)
  next.resolvedBy = event.author
}

/** Removes a resolution. A later resolution stays, because the operator has not seen it. */
function undoResolution(next: Saga, event: OperatorResolutionUndone): void {
  if (next.resolvedAt?.getTime() !== event.resolvedAt.getTime()) return
  next.resolvedAt = event.previousResolvedAt
  next.resolvedBy = event.previousResolvedBy
}

const later = (a: Date | null, b: Date | null): Date | null => (a && (!b || a >= b) ? a : b)

function updateLastEventAt(next: Saga, receivedAt: Date): void {
  if (receivedAt > next.lastEventAt) next.lastEventAt = receivedAt
}

/** Returns whether an event comes too late to change the status. */
const isLate = (before: Saga, event: SagaLifecycleEvent): boolean =>
  (before.status === 'Error' && !isOperatorEvent(event)) ||
  (event.operation === 'SagaStarted' && before.endedAt !== null)

function differs(a: Saga, b: Saga): boolean {
  for (const key in b) if (a[key as keyof Saga] !== b[key as keyof Saga]) return true
  return false
}
