import { cutOf, type EventResult } from '@switchyard/domain/saga'
import { timeOf } from '../../../sql/row-columns.js'
import { type Column, insertInto } from '../../../sql/write-rows.js'
import type { NewSagaEvent } from '../recording/new-saga-event.js'

/** An event that goes into the log. */
export interface LoggedEvent {
  received: NewSagaEvent
  result: EventResult
  sagaId: string | null
}

const column = (
  name: string,
  type: string,
  get: (received: NewSagaEvent) => unknown,
): Column<LoggedEvent> => ({ name, type, get: ({ received }) => get(received) })

/** The one list of the columns of `saga_events`, without the id, which the database draws in the order of the events. */
const columns: readonly Column<LoggedEvent>[] = [
  column('tenant', 'text', ({ tenant }) => tenant),
  column('received_at', 'timestamptz', ({ receivedAt }) => timeOf(receivedAt)),
  column('operation', 'text', ({ event }) => event.operation),
  { name: 'saga_id', type: 'text', get: ({ sagaId }) => sagaId },
  column('activity_id', 'text', ({ event }) => ('activityId' in event ? event.activityId : null)),
  column('event_id', 'text', ({ eventId }) => eventId),
  column('event_time', 'timestamptz', ({ eventTime }) => timeOf(eventTime)),
  column('event_seq', 'bigint', ({ eventSeq }) => eventSeq),
  column('attempt', 'integer', ({ attempt }) => attempt),
  column('trace_parent', 'text', ({ traceParent }) => traceParent),
  column('parent_saga_id', 'text', ({ parentSagaId }) => parentSagaId),
  column('payload_size', 'integer', ({ event }) => cutOf(event)?.size),
  column('payload_sha256', 'bytea', ({ event }) => cutOf(event)?.sha256),
  column('content_key', 'bytea', ({ contentKey }) => contentKey),
  { name: 'result', type: 'text', get: ({ result }) => result },
  column('request', 'bytea', ({ request }) => request),
]

/** Appends to the log and returns the new ids. Followers of the log are notified of the highest one. */
export const insertEvents = insertInto('saga_events-insert', 'saga_events', columns, 'RETURNING id')
