import type { DomainError } from '@switchyard/domain'
import type { Cut, EventResult, SagaEvent, SagaRejection } from '@switchyard/domain/saga'

/** An event as it was received, before it is in the log. */
export interface NewSagaEvent {
  tenant: string
  event: SagaEvent
  receivedAt: Date
  /** The caller's id of the event; one that is in the log makes this a duplicate, whatever else it holds. */
  eventId: string | null
  /** The caller's time of the event. */
  eventTime: Date | null
  /** Hash over operation, request, sequence and attempt, of which the first eight bytes count. */
  contentKey: Uint8Array
  /** As it came over the wire, or with no more than the head of what is too large. */
  request: Uint8Array
  /** The caller's number of the event. */
  eventSeq?: number | null
  /** The attempt it is about, when the caller says so. */
  attempt?: number | null
  /** The caller's W3C trace context. */
  traceParent?: string | null
  /** For the saga it belongs to, each `key=value`. */
  tags?: readonly string[]
  /** The only service whose sagas its sender may report about; null or missing: any. */
  ownService?: string | null
}

/** What became of an event: taken, or refused because of what it refers to or whose that is. */
export type RecordedSagaEvent = EventResult | SagaRejection | DomainError

/** What an event's payload or errors were, when only their head is kept. */
export function cutOf(event: SagaEvent): Cut | null {
  switch (event.operation) {
    case 'ActivityExecuteStarted':
      return event.parameterCut ?? null
    case 'ActivityEnded':
      return event.resultCut ?? null
    case 'ActivityExecuteAborted':
    case 'ActivityExecuteOvertime':
    case 'ActivityCompensateAborted':
      return event.errorsCut ?? null
    default:
      return null
  }
}
