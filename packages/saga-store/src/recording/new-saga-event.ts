import type { DomainError } from '@switchyard/domain'
import type { EventResult, SagaEvent, SagaRejection } from '@switchyard/domain/saga'

/** An event as it was received, before it is in the log. */
export interface NewSagaEvent {
  tenant: string
  event: SagaEvent
  receivedAt: Date
  /**
   * The caller's id of the event. An event whose id is in the log is a duplicate, whatever its content is.
   */
  eventId: string | null
  /** The caller's time of the event. */
  eventTime: Date | null
  /** The `contentHash` of the event. */
  contentKey: Uint8Array
  /** The original request, or one with only the head of a payload or text that is too large. */
  request: Uint8Array
  /** The sequence number that the caller gave the event. */
  eventSeq?: number | null
  /** The attempt of the event, when the caller names it. */
  attempt?: number | null
  /** The caller's W3C trace context. */
  traceParent?: string | null
  /** The parent saga, when the caller names it. */
  parentSagaId?: string | null
  /** Tags for the saga of the event, each `key=value`. */
  tags?: readonly string[]
  /** The only service whose sagas its sender may report about; null or missing: any. */
  ownService?: string | null
}

/**
 * The result of an event: recorded, or refused because it contradicts its saga, or because the saga belongs
 * to another service.
 */
export type RecordedSagaEvent = EventResult | SagaRejection | DomainError
