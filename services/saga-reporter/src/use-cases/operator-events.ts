import { randomUUID } from 'node:crypto'
import type { NewSagaEvent } from '@switchyard/db'
import { contentHash, type OperatorEvent } from '@switchyard/domain/saga'

/** An event that an operator causes, as it goes into the log: its request is JSON. */
export function operatorEvent(tenant: string, event: OperatorEvent, receivedAt: Date): NewSagaEvent {
  const { operation, ...fields } = event
  const request = Buffer.from(JSON.stringify(fields))
  return {
    tenant,
    event,
    receivedAt,
    // A later failure may be resolved in the same words.
    eventId: `resolution-${randomUUID()}`,
    eventTime: null,
    contentKey: contentHash({ operation, request, eventSeq: null, attempt: null }),
    request,
  }
}
