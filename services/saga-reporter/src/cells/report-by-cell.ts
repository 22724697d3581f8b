import { type CallOptions, Metadata, type ServiceError } from '@grpc/grpc-js'
import {
  EventOutcome,
  type EventReply,
  type ReportEventsResponse,
  type ReportedEvent,
  SagaIngestService,
} from '@switchyard/contracts/saga-ingest'
import { DomainError, type ErrorKind, unavailable } from '@switchyard/domain'
import { type EventResult, type RejectionCode, SagaRejection } from '@switchyard/domain/saga'
import { forwardedHeader } from '@switchyard/service-kit/http'
import type { ReportCall, ReportEvents, ReportOutcome } from '../use-cases/report-events.js'
import type { CallMetadata } from '../wire/reported-events.js'
import type { Cells, OtherCell } from './cells.js'
import { otherCellUnreachable } from './other-cell-unreachable.js'

/** What the other cell needs to know about the sender of a batch. */
export interface BatchSender {
  headers: { 'private-token'?: string | undefined; authorization?: string | undefined }
  isForwarded: boolean
  /** Applies to events that name no tenant or no trace. */
  metadata: CallMetadata
  deadline?: Date | number
  /** Aborted when the sender no longer waits. */
  signal: AbortSignal
}

export type ReportByCell = (call: ReportCall, sender: BatchSender) => Promise<ReportOutcome[]>

/** Time for the answer of another cell when the client has set no deadline. */
const answerMsMax = 60_000

/**
 * Has each event of a batch stored in the cell of its tenant, and returns the outcomes in the order of the events. When a cell is
 * unreachable, only the events of its tenants are refused.
 *
 * @throws DomainError unavailable when no event was written
 */
export const createReportByCell =
  (cells: Cells, reportHere: ReportEvents): ReportByCell =>
  async (call, sender) => {
    const outcomes: ReportOutcome[] = []
    const parts = new Map<OtherCell | null, number[]>()
    call.reports.forEach((report, index) => {
      try {
        const cell =
          report instanceof DomainError ? null : cells.ofTenant(report.metadata.tenant, sender.isForwarded)
        parts.set(cell, [...(parts.get(cell) ?? []), index])
      } catch (error) {
        outcomes[index] = domainError(error)
      }
    })
    await Promise.all(
      [...parts].map(async ([cell, indexes]) => {
        const part = { ...call, reports: indexes.flatMap((index) => call.reports[index] ?? []) }
        const results = cell ? reportThere(cell, cells.own, part, sender) : reportHere(part)
        const answered = await results.catch((error: unknown) => indexes.map(() => domainError(error)))
        indexes.forEach((index, at) => {
          outcomes[index] = answered[at] ?? new Error('an event has no outcome')
        })
      }),
    )
    const [first] = outcomes
    if (first instanceof DomainError && outcomes.every(isUnavailable)) throw first
    return outcomes
  }

const isUnavailable = (outcome: ReportOutcome) =>
  outcome instanceof DomainError && outcome.kind === 'unavailable'

/** @throws the error itself when it is unexpected */
function domainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  throw error
}

async function reportThere(
  cell: OtherCell,
  own: string,
  { reports, address }: ReportCall,
  sender: BatchSender,
): Promise<ReportOutcome[]> {
  const metadata = new Metadata()
  for (const name of ['private-token', 'authorization'] as const) {
    const value = sender.headers[name]
    if (value !== undefined) metadata.set(name, value)
  }
  metadata.set(forwardedHeader, own)
  metadata.set('x-forwarded-for', address)
  if (sender.metadata.traceParent) metadata.set('traceparent', sender.metadata.traceParent)
  // Each event names its tenant: metadata holds ASCII only.
  const events = reports.flatMap((report) =>
    report instanceof DomainError || !report.message
      ? []
      : { ...report.message, tenant: report.metadata.tenant },
  )
  const deadline = sender.deadline ?? Date.now() + answerMsMax
  const { results } = await send(cell, events, metadata, { deadline }, sender.signal)
  return results.map(outcomeOf)
}

const { path, requestSerialize, responseDeserialize } = SagaIngestService.reportEvents

function send(
  cell: OtherCell,
  events: ReportedEvent[],
  metadata: Metadata,
  options: CallOptions,
  signal: AbortSignal,
): Promise<ReportEventsResponse> {
  return new Promise((resolve, reject) => {
    const answered = (error: ServiceError | null, response?: ReportEventsResponse) => {
      signal.removeEventListener('abort', cancel)
      if (response) resolve(response)
      else reject(error ? failureOf(error, cell) : new Error('no answer'))
    }
    const call = cell.grpc.makeUnaryRequest(
      ...[path, requestSerialize, responseDeserialize],
      { events },
      metadata,
      options,
      answered,
    )
    const cancel = () => call.cancel()
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel)
  })
}

/** The events of a failed call may have been written. Sent again, they are recognized by their ids. */
function failureOf(error: ServiceError, cell: OtherCell): DomainError {
  return (
    otherCellUnreachable(error, cell.name) ?? unavailable(`the cell ${cell.name} refuses: ${error.details}`)
  )
}

/** The outcome in a reply of another cell; the inverse of the presenter of replies. */
export function outcomeOf({ outcome, message, errors }: EventReply): ReportOutcome {
  if (outcome === EventOutcome.EVENT_OUTCOME_RECORDED || outcome === EventOutcome.EVENT_OUTCOME_DUPLICATE)
    return message as EventResult
  const [code = '', ...detail] = errors.split(': ')
  const text = detail.join(': ')
  if (outcome === EventOutcome.EVENT_OUTCOME_REJECTED) return new SagaRejection(code as RejectionCode, text)
  const kind = code.toLowerCase().replaceAll('_', '-')
  return kind === 'internal'
    ? new Error('another cell could not store an event')
    : new DomainError(kind as ErrorKind, text)
}
