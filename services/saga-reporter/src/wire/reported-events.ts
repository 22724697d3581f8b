import { ReportEventsRequest, type ReportedEvent } from '@switchyard/contracts/saga-ingest'
import { DomainError, invalidParameters } from '@switchyard/domain'
import { parseEventTime } from '@switchyard/domain/saga'
import { decoders } from './decoders.js'
import { type ReportedOperation, requestFields, serializeRequest } from './operations.js'
import type { Report } from './report.js'
import {
  identifier,
  parentSagaIdOf,
  type ReportMetadata,
  traceParentOf,
  validTags,
  wholeNumber,
} from './report-metadata.js'

/** The largest number of events in one call. */
export const eventsMax = 1000

/**
 * @throws DomainError invalid-parameters when the bytes are not such a message, or it has no events or more than 1,000
 */
export function readReportEvents(bytes: Uint8Array): ReportedEvent[] {
  const { events } = decodeRequest(bytes)
  if (events.length === 0) throw invalidParameters(['events is empty'])
  if (events.length > eventsMax) throw invalidParameters([`events has more than ${eventsMax} items`])
  return events
}

function decodeRequest(bytes: Uint8Array): ReportEventsRequest {
  try {
    return ReportEventsRequest.decode(bytes)
  } catch {
    throw invalidParameters(['the request is not a message of this operation'])
  }
}

/** The metadata of a call that applies to those of its events that name no tenant or no trace. */
export type CallMetadata = Pick<ReportMetadata, 'tenant' | 'traceParent'>

/**
 * Reads each event separately.
 *
 * @param events the events in the format of their protocol
 * @param toMessage converts one of them
 * @returns for each event, in their order, the report, or the error that says why the event cannot be read
 */
export const readReports = <Event>(
  events: readonly Event[],
  toMessage: (event: Event) => ReportedEvent,
  metadata: CallMetadata,
): (Report | DomainError)[] =>
  events.map((event) => {
    try {
      return readReport(toMessage(event), metadata)
    } catch (error) {
      if (error instanceof DomainError) return error
      throw error
    }
  })

/** @throws DomainError invalid-parameters */
function readReport(event: ReportedEvent, call: CallMetadata): Report {
  const { operation, request } = requestOf(event)
  return {
    raw: decoders[operation](request),
    request,
    metadata: {
      tenant: identifier(event.tenant, 'tenant') ?? call.tenant,
      eventId: identifier(event.id, 'id'),
      eventTime: timeOf(event.time),
      eventSeq: wholeNumber(event.seq, Number.MAX_SAFE_INTEGER),
      attempt: wholeNumber(event.attempt, 2 ** 31 - 1),
      traceParent: traceParentOf(event.traceParent) ?? call.traceParent,
      parentSagaId: parentSagaIdOf(event.parentSagaId, 'parent_saga_id'),
      tags: validTags(event.tags),
    },
  }
}

/** The operation of an event, and its request in the bytes in which a single call sends it. */
function requestOf(event: ReportedEvent): { operation: ReportedOperation; request: Uint8Array } {
  for (const [operation, field] of Object.entries(requestFields)) {
    const message = event[field]
    if (message === undefined) continue
    const known = operation as ReportedOperation
    return { operation: known, request: serializeRequest(known, message) }
  }
  throw invalidParameters(['request is missing'])
}

/** By the rule of `x-event-time`: a time that cannot be read counts as missing. */
const timeOf = (time: Date | undefined): Date | null =>
  time === undefined || Number.isNaN(time.getTime()) ? null : parseEventTime(time.toISOString())
