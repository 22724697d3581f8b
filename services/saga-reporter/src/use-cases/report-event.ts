import type { Clock } from '@switchyard/domain'
import {
  type Cut,
  contentHash,
  type EventResult,
  type RawSagaEvent,
  type SagaEvent,
  SagaRejection,
  type ValidationOptions,
  validateSagaEvent,
} from '@switchyard/domain/saga'
import { type IngestFigures, type ReportResult, reportResultOf } from '../ingest/ingest-figures.js'
import type { SagaIngest } from '../ingest/saga-ingest.js'
import type { ReportMetadata } from '../wire/report-metadata.js'
import { cutRequest, type RequestLimits } from './cut-request.js'

/** One call of one of the ten operations. */
export interface Report {
  raw: RawSagaEvent
  /** The message as it came. */
  request: Uint8Array
  metadata: ReportMetadata
  /** The only service whose sagas the caller may report about; null: any. */
  ownService: string | null
  /** Whether the caller waits no longer; an event not written by then is not written. */
  givenUp: () => boolean
}

/**
 * Resolves once the event is stored for good, or with why it can never be valid.
 *
 * @throws DomainError unavailable when it cannot be stored now | forbidden
 */
export type ReportEvent = (report: Report) => Promise<EventResult | SagaRejection>

interface Dependencies {
  ingest: SagaIngest
  figures: IngestFigures
  clock: Clock
  validation: ValidationOptions
  limits: RequestLimits
}

/** Takes one lifecycle event: refuses what can never be valid, stores everything else before it answers. */
export function createReportEvent(dependencies: Dependencies): ReportEvent {
  const { ingest, figures, clock, validation, limits } = dependencies
  return async ({ raw, request, metadata, ownService, givenUp }) => {
    const startedMs = performance.now()
    let counted: ReportResult = 'failed'
    try {
      const { tenant, eventId, eventTime, eventSeq, attempt, traceParent, tags } = metadata
      const kept = cutRequest(raw, request, limits)
      const event = sagaEventOf(kept.raw, eventTime, validation, kept.cut)
      const contentKey = contentHash({ operation: event.operation, request, eventSeq, attempt })
      const result = await ingest.record(
        {
          tenant,
          event,
          receivedAt: clock(),
          eventId,
          eventTime,
          contentKey,
          request: kept.request,
          eventSeq,
          attempt,
          traceParent,
          tags,
          ownService,
        },
        givenUp,
      )
      counted = reportResultOf(result)
      return result
    } catch (error) {
      if (error instanceof SagaRejection) {
        counted = 'rejected'
        return error
      }
      throw error
    } finally {
      figures.reported(raw.operation, counted, (performance.now() - startedMs) / 1000)
    }
  }
}

/**
 * The event of a request; the metadata's time stands in for an addTime that was not sent.
 *
 * @param cut what was cut off the payload or errors of the request
 * @throws SagaRejection
 */
export function sagaEventOf(
  raw: RawSagaEvent,
  eventTime: Date | null,
  validation: ValidationOptions = {},
  cut: Cut | null = null,
): SagaEvent {
  const event = validateSagaEvent(raw, validation)
  if ('addTime' in event) event.addTime ??= eventTime
  return cut === null ? event : withCut(event, cut)
}

function withCut(event: SagaEvent, cut: Cut): SagaEvent {
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
