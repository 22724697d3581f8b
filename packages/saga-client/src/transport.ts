import { Client, credentials, type Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { SagaService } from '@switchyard/contracts/saga'
import { EventOutcome, type EventReply, SagaIngestService } from '@switchyard/contracts/saga-ingest'
import { type IdentifiedEvent, metadataOf, tenantMetadata } from './identified-event.js'
import type { ReportResult, Settings } from './options.js'
import { isRetryable } from './retry.js'
import { messageOf, serviceError } from './service-error.js'
import { addToken } from './token.js'

/**
 * The knowledge about an event after an attempt: its result, or the failure after which it may be sent again.
 */
export type Verdict = ReportResult | ServiceError

export interface Transport {
  /** Returns the most events that may be sent together now. */
  eventsMax: () => number
  /** Makes one attempt, and returns a verdict for each event, in their order. Never rejects. */
  send: (events: readonly IdentifiedEvent[]) => Promise<Verdict[]>
  /** Makes one call of another method. Rejects with a ServiceError. */
  call: <Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    metadata: Metadata,
    options?: CallOptions,
  ) => Promise<Response>
  close: () => void
}

export interface CallOptions {
  /** Unset: the deadline of the client. */
  deadlineMs?: number
  /** Ends the call. */
  signal?: AbortSignal
}

/**
 * Time for which events are sent one by one to a reporter without batches. Then batches are tried again,
 * because the reporter may have been upgraded.
 */
const oneByOneMs = 60_000

export function createTransport(settings: Settings): Transport {
  const client = new Client(settings.address, channelCredentials(settings), {
    'grpc.keepalive_time_ms': 60_000,
    'grpc.initial_reconnect_backoff_ms': settings.retryDelayMs,
    'grpc.max_reconnect_backoff_ms': settings.retryDelayMsMax,
    // Events keep their id, and are repeated here, where ids and hints are known.
    'grpc.enable_retries': 0,
  })
  let oneByOneUntilMs = 0
  const isOneByOne = () => performance.now() < oneByOneUntilMs

  async function call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    metadata: Metadata,
    { deadlineMs = settings.deadlineMs, signal }: CallOptions = {},
  ): Promise<Response> {
    // A missing token rejects as well.
    await addToken(metadata, settings)
    return new Promise((resolve, reject) => {
      const sent = client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        { deadline: Date.now() + deadlineMs },
        (error, response) => {
          signal?.removeEventListener('abort', cancel)
          if (error || response === undefined) reject(error)
          else resolve(response)
        },
      )
      const cancel = () => sent.cancel()
      signal?.addEventListener('abort', cancel)
      if (signal?.aborted) cancel()
    })
  }

  async function sendAlone({ operation, request, message }: IdentifiedEvent): Promise<Verdict> {
    const method = SagaService[operation] as Method<object, SingleResponse>
    let metadata: Metadata
    try {
      metadata = metadataOf(message)
    } catch (error) {
      return { outcome: 'refused', reason: messageOf(error) }
    }
    try {
      const { isSuccess, message: text, errors } = await call(method, request, metadata)
      return isSuccess ? { outcome: 'stored', message: text } : { outcome: 'refused', reason: errors || text }
    } catch (error) {
      return verdictOf(error)
    }
  }

  async function sendOneByOne(events: readonly IdentifiedEvent[]): Promise<Verdict[]> {
    const verdicts: Verdict[] = []
    for (const event of events) {
      const last = verdicts.at(-1)
      // Events after one that must be sent again wait with it, so that they keep their order.
      verdicts.push(last instanceof Error ? last : await sendAlone(event))
    }
    return verdicts
  }

  async function sendBatch(events: readonly IdentifiedEvent[]): Promise<Verdict[]> {
    try {
      const request = { events: events.map(({ message }) => message) }
      const { results } = await call(SagaIngestService.reportEvents, request, tenantMetadata(settings.tenant))
      return events.map((_, index) => verdictOfReply(results[index]))
    } catch (error) {
      if (isServiceError(error) && error.code === status.UNIMPLEMENTED) {
        oneByOneUntilMs = performance.now() + oneByOneMs
        return sendOneByOne(events)
      }
      const verdict = verdictOf(error)
      return events.map(() => verdict)
    }
  }

  return {
    eventsMax: () => (isOneByOne() ? 1 : settings.batchEventsMax),
    send: (events) => (isOneByOne() ? sendOneByOne(events) : sendBatch(events)),
    call,
    close: () => client.close(),
  }
}

interface Method<Request, Response> {
  path: string
  requestSerialize: (request: Request) => Buffer
  responseDeserialize: (bytes: Buffer) => Response
}

type SingleResponse = ReturnType<(typeof SagaService)['sagaStarted']['responseDeserialize']>

function verdictOfReply(reply: EventReply | undefined): Verdict {
  switch (reply?.outcome) {
    case EventOutcome.EVENT_OUTCOME_RECORDED:
    case EventOutcome.EVENT_OUTCOME_DUPLICATE:
      return { outcome: 'stored', message: reply.message }
    case EventOutcome.EVENT_OUTCOME_REJECTED:
      return { outcome: 'refused', reason: reply.errors || reply.message }
    case EventOutcome.EVENT_OUTCOME_RETRYABLE:
      return serviceError(status.UNAVAILABLE, reply.errors)
    default:
      return { outcome: 'lost', reason: reply?.errors || 'the reporter gave no result for the event' }
  }
}

function verdictOf(error: unknown): Verdict {
  const failure = isServiceError(error) ? error : serviceError(status.UNKNOWN, String(error))
  return isRetryable(failure) ? failure : { outcome: 'lost', reason: describeFailure(failure) }
}

export const describeFailure = ({ code, details }: ServiceError): string =>
  `${status[code] ?? code}: ${details}`

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'metadata' in error

function channelCredentials({ tls }: Settings) {
  if (tls === undefined) return credentials.createInsecure()
  if (tls === true) return credentials.createSsl()
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null)
}
