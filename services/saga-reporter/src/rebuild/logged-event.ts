import type { LoggedEvent } from '@switchyard/db'
import { type Cut, contentKeyOf, type Receipt, type SagaEvent } from '@switchyard/domain/saga'
import { sagaEventOf } from '../use-cases/report-events.js'
import { decoders } from '../wire/decoders.js'

/** The event that an entry of the log stands for, and what its receiver knew beside the event itself. */
export function loggedEvent(entry: LoggedEvent): { event: SagaEvent; receipt: Receipt } {
  const decode = decoders[entry.operation as SagaEvent['operation']]
  // An event that was recorded stays valid, also if a service name has become required since.
  const event = sagaEventOf(decode(entry.request), entry.eventTime, { serviceNameRequired: false })
  return {
    event: withCut(event, entry),
    receipt: {
      contentKey: entry.eventId === null ? contentKeyOf(entry.contentKey) : null,
      attempt: entry.attempt,
    },
  }
}

/** The request in the log holds only the head of a payload or text that was too large. */
function withCut(event: SagaEvent, { payloadSize, payloadSha256 }: LoggedEvent): SagaEvent {
  if (payloadSize === null || payloadSha256 === null) return event
  const cut: Cut = { size: payloadSize, sha256: payloadSha256 }
  switch (event.operation) {
    case 'ActivityExecuteStarted':
      return { ...event, parameterCut: cut }
    case 'ActivityEnded':
      return { ...event, resultCut: cut }
    case 'ActivityExecuteAborted':
    case 'ActivityExecuteOvertime':
    case 'ActivityCompensateAborted':
      return { ...event, errorsCut: cut }
    default:
      return event
  }
}
