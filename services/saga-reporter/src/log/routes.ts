import type { Pooled } from '@switchyard/db'
import { endpoint, integer, pageParameters, type Route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type Decoder, decoders } from '../shapes/operations.js'
import { cursorHeaders, cursorReply } from '../shapes/paging.js'
import { snakeCase, tenantParameter } from '../shapes/parameters.js'
import { traceUrl } from '../shapes/trace-url.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import * as log from './log.js'
import type { SagaEventView } from './store.js'

/** @param traceUrlTemplate where traces are shown, with `{trace_id}` for the id */
export const logRoutes = (database: Pooled, traceUrlTemplate: string | undefined): Route[] => [
  tenantRoute('GET', '/sagas/:id/events', sagaReader, listSagaEvents(database, traceUrlTemplate)),
]

/** Lists events in the order of the log. */
const listSagaEvents = (database: Pooled, traceUrlTemplate: string | undefined) =>
  endpoint({
    summary: 'List the events of a saga',
    replies: { 200: z.array(sagaEventShape) },
    headers: cursorHeaders,
    input: z.object({
      id: text(),
      ...tenantParameter,
      per_page: pageParameters.per_page,
      after: integer(0).default(0),
    }),
    handle: async ({ id, tenant, per_page, after }, _caller, call) => {
      const key = { tenant, sagaId: id }
      const { events, hasMore } = await log.listEvents(database, key, { after, take: per_page })
      const last = events.at(-1)
      const next = hasMore && last ? { parameter: 'after', value: String(last.seq) } : null
      const shown = events.map((event) => presentSagaEvent(event, traceUrlTemplate))
      return cursorReply(shown, per_page, next, call)
    },
  })

const sagaEventShape = z
  .object({
    seq: z.int(),
    operation: z.string(),
    result: z.string(),
    activity_id: z.string().nullable(),
    received_at: z.date(),
    event_id: z.string().nullable(),
    event_time: z.date().nullable(),
    event_seq: z.number().nullable(),
    attempt: z.int().nullable(),
    trace_parent: z.string().nullable(),
    trace_url: z
      .string()
      .nullable()
      .meta({ description: 'URL of the trace; null without a trace or without `SWITCHYARD_TRACE_URL`' }),
    parent_saga_id: z.string().nullable(),
    payload_size: z.int().nullable(),
    request_size: z.int(),
    request: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'SagaEvent', description: 'An event of a saga' })

/**
 * Returns a row of the log. Its request has the sizes of payloads in place of their bytes.
 *
 * @param traceUrlTemplate the address of a trace, with a placeholder
 */
const presentSagaEvent = (
  event: SagaEventView,
  traceUrlTemplate: string | undefined,
): z.output<typeof sagaEventShape> => ({
  seq: event.seq,
  operation: event.operation,
  result: event.result,
  activity_id: event.activityId,
  received_at: event.receivedAt,
  event_id: event.eventId,
  event_time: event.eventTime,
  event_seq: event.eventSeq,
  attempt: event.attempt,
  trace_parent: event.traceParent,
  trace_url: traceUrl(traceUrlTemplate, event.traceParent),
  parent_saga_id: event.parentSagaId,
  payload_size: event.payloadSize,
  request_size: event.requestSize,
  request: event.request && presentRequest(event.operation, event.request, event.payloadSize),
})

/** Most characters of a text that are shown, because errors may have millions. */
const textCharsMax = 4096

/** @param payloadSize size of the payload as sent, if only its head is stored */
function presentRequest(
  operation: string,
  request: Buffer,
  payloadSize: number | null,
): Record<string, unknown> | null {
  const fields = decodeRequest(operation, request)
  if (fields === null) return null
  const shown = Object.entries(fields).flatMap(([name, value]) =>
    presentField(snakeCase(name), value, payloadSize),
  )
  return Object.fromEntries(shown)
}

/** Returns the decoded request; null when it cannot be decoded. */
function decodeRequest(operation: string, request: Buffer): Record<string, unknown> | null {
  const decode: Decoder | undefined = Reflect.get(decoders, operation)
  try {
    const { operation: _, ...fields } = decode ? decode(request) : JSON.parse(request.toString())
    return fields
  } catch {
    return null
  }
}

function presentField(name: string, value: unknown, payloadSize: number | null): [string, unknown][] {
  if (value instanceof Uint8Array) return [[name.replace(/_data$/, '_size'), payloadSize ?? value.length]]
  if (typeof value === 'string') return [[name, value.slice(0, textCharsMax)]]
  return value === undefined ? [] : [[name, value]]
}
