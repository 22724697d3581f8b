import { type EventResult, isOperatorEvent, type SagaEvent } from './events.js'
import { SagaRejection } from './rejection.js'
import type { Saga } from './saga.js'

/**
 * Strict mode: refuses events out of order. Repeated events are allowed.
 *
 * @param saga the saga before the event; null when there is none
 * @throws SagaRejection SAGA_UNKNOWN | SAGA_ALREADY_ENDED | TRANSITION_NOT_ALLOWED
 */
export function refuseDisorder(event: SagaEvent, result: EventResult, saga: Saga | null): void {
  if (result === 'duplicate' || isOperatorEvent(event)) return
  const isStart = event.operation === 'SagaStarted'
  if (!isStart && !saga?.startedAt) throw new SagaRejection('SAGA_UNKNOWN', 'its start has not been reported')
  if (saga?.endedAt) throw new SagaRejection('SAGA_ALREADY_ENDED', `saga ${saga.id} has ended`)
  if (result === 'late' || result === 'conflict recorded') {
    throw new SagaRejection('TRANSITION_NOT_ALLOWED', 'a recorded status takes precedence over this event')
  }
}
