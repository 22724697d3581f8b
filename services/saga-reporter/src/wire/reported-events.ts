import {
  ActivityCompensateAbortedRequest,
  ActivityCompensatedRequest,
  ActivityEndedRequest,
  ActivityExecuteAbortedRequest,
  ActivityExecuteOvertimeRequest,
  ActivityExecuteStartedRequest,
  ActivityRetriedRequest,
  ActivityRevokedRequest,
  SagaStartedRequest,
} from '@switchyard/contracts/saga'
import { ReportEventsRequest, type ReportedEvent } from '@switchyard/contracts/saga-ingest'
import { DomainError, invalidParameters } from '@switchyard/domain'
import { parseEventTime } from '@switchyard/domain/saga'
import { decoders } from './decoders.js'
import type { Report } from './report.js'
import { identifier, type ReportMetadata, traceParentOf, validTags, wholeNumber } from './report-metadata.js'

/** Events of one call, at most. */
export const eventsMax = 1000

/**
 * @throws DomainError invalid-parameters when the bytes are no such message, or it has no events or more than 1,000
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

/** What the metadata of a call says of events that say nothing of it themselves. */
export type CallMetadata = Pick<ReportMetadata, 'tenant' | 'traceParent'>

/** Each event as it is reported, or why it cannot be read. */
export const readReports = (
  events: readonly ReportedEvent[],
  metadata: CallMetadata,
): (Report | DomainError)[] =>
  events.map((event) => {
    try {
      return readReport(event, metadata)
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
      tags: validTags(event.tags),
    },
  }
}

/** The operation of an event, and the bytes in which a single call sends its message. */
function requestOf(event: ReportedEvent): { operation: keyof typeof decoders; request: Uint8Array } {
  if (event.sagaStarted)
    return { operation: 'SagaStarted', request: SagaStartedRequest.encode(event.sagaStarted).finish() }
  if (event.sagaEnded)
    return { operation: 'SagaEnded', request: SagaStartedRequest.encode(event.sagaEnded).finish() }
  return activityRequestOf(event)
}

function activityRequestOf(event: ReportedEvent): { operation: keyof typeof decoders; request: Uint8Array } {
  if (event.activityExecuteStarted) {
    const request = ActivityExecuteStartedRequest.encode(event.activityExecuteStarted).finish()
    return { operation: 'ActivityExecuteStarted', request }
  }
  if (event.activityRetried) {
    const request = ActivityRetriedRequest.encode(event.activityRetried).finish()
    return { operation: 'ActivityRetried', request }
  }
  if (event.activityExecuteAborted) {
    const request = ActivityExecuteAbortedRequest.encode(event.activityExecuteAborted).finish()
    return { operation: 'ActivityExecuteAborted', request }
  }
  if (event.activityCompensateAborted) {
    const request = ActivityCompensateAbortedRequest.encode(event.activityCompensateAborted).finish()
    return { operation: 'ActivityCompensateAborted', request }
  }
  if (event.activityEnded)
    return { operation: 'ActivityEnded', request: ActivityEndedRequest.encode(event.activityEnded).finish() }
  if (event.activityCompensated) {
    const request = ActivityCompensatedRequest.encode(event.activityCompensated).finish()
    return { operation: 'ActivityCompensated', request }
  }
  if (event.activityExecuteOvertime) {
    const request = ActivityExecuteOvertimeRequest.encode(event.activityExecuteOvertime).finish()
    return { operation: 'ActivityExecuteOvertime', request }
  }
  if (event.activityRevoked) {
    const request = ActivityRevokedRequest.encode(event.activityRevoked).finish()
    return { operation: 'ActivityRevoked', request }
  }
  throw invalidParameters(['request is missing'])
}

/** By the rule of `x-event-time`: a time that no calendar has counts as none. */
const timeOf = (time: Date | undefined): Date | null =>
  time === undefined || Number.isNaN(time.getTime()) ? null : parseEventTime(time.toISOString())
