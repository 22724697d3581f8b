import { DomainError, type ErrorKind } from '@switchyard/domain'
import { type Caller, countedToken } from '@switchyard/domain/access'
import { operationNames, sagaStatuses } from '@switchyard/domain/saga'
import {
  answered,
  answerHead,
  type Call,
  EventStream,
  endpoint,
  eventText,
  integer,
  list,
  type Route,
  senderAddress,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { tenantParameter } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import type { Batch } from './follow.js'
import type { LiveSagas } from './live.js'
import type { LogEntry } from './store.js'

export interface StreamDependencies {
  live: LiveSagas
  /** Longest time for which a client may read nothing. */
  stallMsMax: number
}

/** Parses `Ended,Error`, or a repeated parameter. */
const listOf = <Value extends string>(values: readonly [Value, ...Value[]]) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given : typeof given === 'string' ? given.split(',') : given),
    list(z.enum(values)).refine((words) => words.length > 0, { error: 'is empty' }),
  )

/** Endpoints that stream the log as it grows. */
export const liveRoutes = (deps: StreamDependencies): Route[] => [
  tenantRoute('GET', '/sagas/stream', sagaReader, streamSagas(deps), {
    longLived: true,
  }),
]

/** `GET /sagas/stream`: streams the log as it grows, as server-sent events. */
const streamSagas = ({ live, stallMsMax }: StreamDependencies) =>
  endpoint({
    summary: 'Stream new saga events as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({
      ...tenantParameter,
      service_name: text().optional(),
      saga_id: text().optional(),
      status: listOf(sagaStatuses).optional(),
      operation: listOf(operationNames).optional(),
      last_event_id: integer(0).optional(),
    }),
    handle: async (input, caller: Caller, call) => {
      const { request, response } = call.raw
      const filter = {
        tenant: input.tenant,
        serviceName: input.service_name,
        sagaId: input.saga_id,
        statuses: input.status,
        operations: input.operation,
      }
      const after = headerPosition(request.get('Last-Event-ID')) ?? input.last_event_id ?? null
      if (answerHead(call)) return answered
      const batches = live.watch({
        kind: 'sse',
        owner: { token: countedToken(caller), address: senderAddress(request.ip) },
        filter,
        after,
        signal: call.signal,
      })
      await sendEvents(response, batches, stallMsMax)
      return answered
    },
  })

/** Reads the position from the header of a client that reconnects; its query repeats the first request. */
function headerPosition(value: string | undefined): number | undefined {
  const parsed = integer(0).safeParse(value)
  return parsed.success ? parsed.data : undefined
}

const retryMs = { least: 1000, most: 3000 }

/**
 * Sends pieces of the log as server-sent events until there are no more. A client that reads nothing for
 * `stallMs` is disconnected; when it connects again, it continues after its last event.
 *
 * @throws the error of the first piece, before anything is sent
 */
async function sendEvents(
  response: Call['raw']['response'],
  batches: AsyncGenerator<Batch>,
  stallMs: number,
): Promise<void> {
  const first = await batches.next()
  const stream = new EventStream(response, { retryMs, stallMs }, first.done ? '' : textOf(first.value))
  try {
    while (await stream.drained()) {
      const { value, done } = await batches.next()
      if (done) return stream.end(closing(unavailable))
      stream.send(textOf(value))
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    stream.end(closing(reasons[error.kind] ?? '403 Forbidden'))
  } finally {
    await batches.return(undefined)
  }
}

/**
 * Returns a part as text. A part without events is a `ping` with the position from which the client continues
 * after a reconnect.
 */
function textOf({ entries, sequence, reset }: Batch): string {
  if (reset) return eventText({ id: sequence, event: 'reset', data: { seq: sequence } })
  if (entries.length === 0) return eventText({ id: sequence, event: 'ping', data: {} })
  return entries.map((entry) => eventText({ id: entry.sequence, data: presentLogEntry(entry) })).join('')
}

const unavailable = '503 Service Unavailable'
const reasons: { [kind in ErrorKind]?: string } = { unauthenticated: '401 Unauthorized', unavailable }

const closing = (message: string) => eventText({ event: 'close', data: { message } })

/** Returns an entry of the log in a stream; `seq` is the same as in the list of the saga's events. */
const presentLogEntry = (entry: LogEntry) => ({
  seq: entry.sequence,
  tenant: entry.tenant,
  saga_id: entry.sagaId,
  activity_id: entry.activityId,
  operation: entry.operation,
  result: entry.result,
  received_at: entry.receivedAt,
  event_time: entry.eventTime,
  service_name: entry.serviceName,
  status: entry.status,
  outcome: entry.outcome,
  activity_status: entry.activityStatus,
})
