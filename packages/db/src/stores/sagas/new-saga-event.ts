import type { EventResult, SagaEvent, SagaRejection } from '@switchyard/domain/saga'

/** An event as it was received, before it is in the log. */
export interface NewSagaEvent {
  tenant: string
  event: SagaEvent
  receivedAt: Date
  /** The caller's id of the event; one that is in the log makes this a duplicate, whatever else it holds. */
  eventId: string | null
  /** The caller's time of the event. */
  eventTime: Date | null
  /** SHA-256 over operation and request: the same content, the same key. */
  contentKey: Uint8Array
  /** As it came over the wire. */
  request: Uint8Array
}

/** What became of an event: taken, or refused because of what it refers to. */
export type RecordedSagaEvent = EventResult | SagaRejection
