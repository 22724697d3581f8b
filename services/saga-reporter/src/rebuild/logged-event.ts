import type { LoggedEvent } from '@switchyard/db'
import { contentKeyOf, type Receipt, type SagaEvent } from '@switchyard/domain/saga'
import { sagaEventOf } from '../use-cases/report-events.js'
import { decoders } from '../wire/decoders.js'

/** The event that an entry of the log stands for, and what its receiver knew beside the event itself. */
export function loggedEvent(entry: LoggedEvent): { event: SagaEvent; receipt: Receipt } {
  const decode = decoders[entry.operation as SagaEvent['operation']]
  const { payloadSize: size, payloadSha256: sha256 } = entry
  // The request in the log holds only the head of a payload or text that was too large.
  const cut = size === null || sha256 === null ? null : { size, sha256 }
  return {
    // An event that was recorded stays valid, also if a service name has become required since.
    event: sagaEventOf(decode(entry.request), entry.eventTime, { serviceNameRequired: false }, cut),
    receipt: {
      contentKey: entry.eventId === null ? contentKeyOf(entry.contentKey) : null,
      attempt: entry.attempt,
      parentSagaId: entry.parentSagaId,
    },
  }
}
