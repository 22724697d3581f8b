import { createHash } from 'node:crypto'
import type { CommonResponse } from '@switchyard/contracts/saga'
import type { Clock } from '@switchyard/domain'
import {
  type RawSagaEvent,
  type SagaEvent,
  SagaRejection,
  type ValidationOptions,
  validateSagaEvent,
} from '@switchyard/domain/saga'
import type { SagaIngest } from '../ingest/saga-ingest.js'
import { recordedResponse, rejectedResponse } from '../presenters/common-response.js'

/** One call of one of the ten operations. */
export interface Report {
  raw: RawSagaEvent
  /** The message as it came. */
  request: Uint8Array
  tenant: string
  eventId: string | null
  eventTime: Date | null
  /** Whether the caller waits no longer; an event not written by then is not written. */
  givenUp: () => boolean
}

/** Answers once the event is stored for good; @throws DomainError unavailable when it cannot be stored now */
export type ReportEvent = (report: Report) => Promise<CommonResponse>

interface Dependencies {
  ingest: SagaIngest
  clock: Clock
  validation: ValidationOptions
}

/** Takes one lifecycle event: refuses what can never be valid, stores everything else before it answers. */
export function createReportEvent({ ingest, clock, validation }: Dependencies): ReportEvent {
  return async ({ raw, request, tenant, eventId, eventTime, givenUp }) => {
    try {
      const event = sagaEventOf(raw, eventTime, validation)
      const contentKey = contentKeyOf(event, request)
      const received = { tenant, event, receivedAt: clock(), eventId, eventTime, contentKey, request }
      return recordedResponse(await ingest.record(received, givenUp))
    } catch (error) {
      if (error instanceof SagaRejection) return rejectedResponse(error)
      throw error
    }
  }
}

/**
 * The event of a request; the metadata's time stands in for an addTime that was not sent.
 *
 * @throws SagaRejection
 */
export function sagaEventOf(
  raw: RawSagaEvent,
  eventTime: Date | null,
  validation: ValidationOptions = {},
): SagaEvent {
  const event = validateSagaEvent(raw, validation)
  return 'addTime' in event ? { ...event, addTime: event.addTime ?? eventTime } : event
}

const contentKeyOf = ({ operation }: SagaEvent, request: Uint8Array): Uint8Array =>
  createHash('sha256').update(`${operation}\0`).update(request).digest()
