import type { EventResult, OperatorResolved, SagaEnded, SagaLifecycleEvent, SagaStarted } from './events.js'
import { SagaRejection } from './rejection.js'
import { type Saga, unseenSaga } from './saga.js'

export interface AppliedSagaEvent {
  /** Status and outcome are as before: see settleSaga. */
  saga: Saga
  result: EventResult
}

/**
 * Adds what SagaStarted, SagaEnded or OperatorResolved tells to a saga. The given saga is not changed; when the event told nothing new
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
  const after = { ...before }
  addFact(after, event, receivedAt)
  if (saga && !differs(saga, after)) return { saga, result: 'duplicate' }
  see(after, receivedAt)
  return { saga: after, result: isLate(before, event) ? 'late' : 'recorded' }
}

/** Younger than so, an ordinary event of an activity is not noted in its saga. */
const notedAfterMs = 10_000

/**
 * Notes that something was received about one of a saga's activities. The saga stays as it is while that is nothing new
 * for it: an ordinary event would otherwise cost a second row.
 */
export function noteActivityEvent(saga: Saga | null, sagaId: string, receivedAt: Date): Saga {
  if (saga === null) return unseenSaga(sagaId, receivedAt)
  const late = saga.late || saga.endedAt !== null
  const olderMs = receivedAt.getTime() - saga.lastEventAt.getTime()
  if (late === saga.late && olderMs < notedAfterMs) return saga
  const noted = { ...saga, late }
  see(noted, receivedAt)
  return noted
}

function addFact(next: Saga, event: SagaLifecycleEvent, receivedAt: Date): void {
  if (event.operation === 'SagaStarted') start(next, event, receivedAt)
  else if (event.operation === 'SagaEnded') end(next, event, receivedAt)
  else resolve(next, event, receivedAt)
}

/** The name that SagaStarted gave is the saga's; before that, an earlier SagaEnded may have given one. */
function refuseOtherService(saga: Saga, event: SagaLifecycleEvent) {
  if (event.operation === 'OperatorResolved') return
  const settled = event.operation === 'SagaEnded' || saga.startedAt !== null
  if (settled && saga.serviceName && event.serviceName && saga.serviceName !== event.serviceName) {
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

const later = (a: Date | null, b: Date | null): Date | null => (a && (!b || a >= b) ? a : b)

function see(next: Saga, receivedAt: Date): void {
  if (receivedAt > next.lastEventAt) next.lastEventAt = receivedAt
}

/** The fact is kept, but cannot change the status any more. */
const isLate = (before: Saga, event: SagaLifecycleEvent): boolean =>
  (before.status === 'Error' && event.operation !== 'OperatorResolved') ||
  (event.operation === 'SagaStarted' && before.endedAt !== null)

function differs(a: Saga, b: Saga): boolean {
  for (const key in b) if (a[key as keyof Saga] !== b[key as keyof Saga]) return true
  return false
}
