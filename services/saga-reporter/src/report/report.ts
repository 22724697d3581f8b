import { type Clock, DomainError, invalidParameters, isRefusal } from '@switchyard/domain'
import {
  type Cut,
  contentHash,
  type EventResult,
  type RawSagaEvent,
  type SagaEvent,
  SagaRejection,
  sagaIdOf,
  type ValidationOptions,
  validateSagaEvent,
} from '@switchyard/domain/saga'
import type { NewSagaEvent } from '@switchyard/saga-store'
import type { Logger } from '@switchyard/service-kit/observability'
import { requireOwnService, requireOwnTenant } from '../access/access.js'
import type { Peer } from '../shapes/peer.js'
import { cutRequest, type RequestLimits } from './cut-request.js'
import type { Report } from './decode.js'
import { type ReportMetrics, type ReportResult, reportResultOf } from './metrics.js'
import type { RateLimit } from './rate-limit.js'
import { type EventOutcome, type Recorder, RecordFailure } from './record.js'

/** The events of one call, and its sender. */
export interface ReportCall {
  /** The events; an error in place of an event that could not be read. */
  reports: readonly (Report | DomainError)[]
  peer: Peer
  address: string
  /** Returns whether the caller no longer waits; an event that was not written before is then not written. */
  givenUp: () => boolean
}

/** The result of a stored event, or its error: SagaRejection, DomainError, or an unexpected failure. */
export type ReportOutcome = EventResult | Error

/**
 * Resolves with one outcome for each event, in their order, once PostgreSQL has committed.
 *
 * @throws DomainError unavailable when none of the events was written
 */
export type ReportEvents = (call: ReportCall) => Promise<ReportOutcome[]>

interface Dependencies {
  recorder: Recorder
  metrics: ReportMetrics
  /** Unset: no limit. */
  rateLimit: RateLimit | undefined
  clock: Clock
  validation: ValidationOptions
  limits: RequestLimits
}

/**
 * Accepts lifecycle events: refuses events that can never be valid, and stores all other events before it
 * answers.
 */
export function createReportEvents(deps: Dependencies): ReportEvents {
  const { recorder, metrics } = deps
  return async (call) => {
    const startedMs = performance.now()
    const { reports, givenUp } = call
    const count = (report: Report | DomainError | undefined, result: ReportResult) => {
      if (report && !(report instanceof DomainError))
        metrics.reported(report.raw.operation, result, (performance.now() - startedMs) / 1000)
    }
    const prepared = prepareEvents(deps, call)
    const events = prepared.filter((event): event is NewSagaEvent => !(event instanceof Error))
    const stored = new Map<NewSagaEvent, EventOutcome | undefined>()
    try {
      if (events.length > 0) {
        const recorded = await recorder.record(events, givenUp)
        for (const [index, event] of events.entries()) stored.set(event, recorded[index])
      }
    } finally {
      // Without outcomes, no event was stored.
      prepared.forEach((event, index) => {
        if (event instanceof SagaRejection) count(reports[index], 'rejected')
        else if (!(event instanceof Error)) count(reports[index], resultOf(stored.get(event)))
      })
    }
    const outcomes = prepared.map((event) => (event instanceof Error ? event : outcomeOf(stored.get(event))))
    const [first] = outcomes
    if (first instanceof DomainError && outcomes.every((outcome) => isRefusal(outcome, 'unavailable')))
      throw first
    return outcomes
  }
}

/**
 * Returns the storable form of each event, or its refusal. Once an event exceeds the sender's rate, the
 * following ones are refused as well, so that the order is preserved when they are sent again.
 */
function prepareEvents(
  deps: Dependencies,
  { reports, peer, address }: ReportCall,
): (NewSagaEvent | SagaRejection | DomainError)[] {
  const { rateLimit } = deps
  let overRate: DomainError | undefined
  return reports.map((report) => {
    if (report instanceof DomainError) return report
    if (overRate) return overRate
    try {
      const { raw, metadata } = report
      requireOwnTenant(peer, metadata.tenant)
      requireOwnService(peer, raw)
      rateLimit?.({ peer, tenant: metadata.tenant, event: raw, address })
      return prepareEvent(deps, report, peer.service)
    } catch (error) {
      const refusal = refusalOf(error)
      if (isRefusal(refusal, 'rate-limited')) overRate = refusal
      return refusal
    }
  })
}

/** @throws SagaRejection | DomainError invalid-parameters */
function prepareEvent(
  { clock, validation, limits }: Dependencies,
  { raw, request, metadata }: Report,
  ownService: string | null,
): NewSagaEvent {
  const { eventTime, eventSeq, attempt } = metadata
  const kept = cutRequest(raw, request, limits)
  const event = sagaEventOf(kept.raw, eventTime, validation, kept.cut)
  if (metadata.parentSagaId !== null && metadata.parentSagaId === sagaIdOf(event))
    throw invalidParameters(['the saga is named as its own parent'])
  const contentKey = contentHash({ operation: event.operation, request, eventSeq, attempt })
  return { ...metadata, event, receivedAt: clock(), contentKey, request: kept.request, ownService }
}

/** @throws the error itself when it is unexpected */
function refusalOf(error: unknown): SagaRejection | DomainError {
  if (error instanceof SagaRejection || error instanceof DomainError) return error
  throw error
}

function resultOf(outcome: EventOutcome | undefined): ReportResult {
  if (outcome instanceof SagaRejection) return 'rejected'
  if (outcome === undefined || outcome instanceof DomainError || outcome instanceof RecordFailure)
    return 'failed'
  return reportResultOf(outcome)
}

function outcomeOf(outcome: EventOutcome | undefined): ReportOutcome {
  if (outcome === undefined) throw new Error('an event has no outcome')
  if (!(outcome instanceof RecordFailure)) return outcome
  return outcome.error instanceof Error
    ? outcome.error
    : new Error('an event failed', { cause: outcome.error })
}

/** Logs the unexpected failures of a call that was answered anyway. */
export function logFailures(outcomes: readonly ReportOutcome[], logger: Logger): void {
  for (const error of outcomes) {
    const isExpected = error instanceof SagaRejection || error instanceof DomainError
    if (error instanceof Error && !isExpected) logger.error({ err: error }, 'an event could not be stored')
  }
}

/**
 * Returns the event of a request; the metadata's time replaces a missing addTime.
 *
 * @param cut size and digest of the whole payload or errors when the request has only their head
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
  if (cut !== null && 'activityId' in event) event.cut = cut
  return event
}
