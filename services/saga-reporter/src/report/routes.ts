import type { IncomingHttpHeaders } from 'node:http'
import { ActivityRetriedRequest_ActivityRetryType as RetryType } from '@switchyard/contracts/saga'
import { ReportedEvent } from '@switchyard/contracts/saga-ingest'
import { invalidParameters } from '@switchyard/domain'
import { type Caller, ownTenant } from '@switchyard/domain/access'
import { parseEventTime } from '@switchyard/domain/saga'
import {
  documented,
  endpoint,
  type Guard,
  JsonText,
  list,
  ok,
  proseCharsMax,
  type Route,
  readParameters,
  route,
  senderAddress,
  text,
  textCharsMax,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { peerOfCaller, requireOwnTenant } from '../access/access.js'
import { methods, reportedOperations } from '../shapes/operations.js'
import type { Peer } from '../shapes/peer.js'
import { type CallMetadata, eventsMax, identifier, readReports, traceParentOf } from './decode.js'
import { eventReplyShape, presentEventReply } from './event-reply.js'
import type { ReportEvents } from './report.js'
import * as report from './report.js'

/** @param isForCertificates only holders of certificates may report, so no HTTP request may */
export const reportRoutes = (reportEvents: ReportEvents, isForCertificates: boolean): Route[] => [
  route('POST', '/saga_events', reporter(isForCertificates), createEvents(reportEvents), {
    keptTexts: { list: 'events', members: ['parameter', 'result'] },
  }),
]

const int32 = () =>
  z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .default(0)

const line = () => z.string().max(textCharsMax).default('')

const payloadNote = 'the text of a string is stored, any other value as it is written in the body'

/** One event of `POST /saga_events`: the metadata of a gRPC call, and the request fields of its operation. */
const eventShape = z.object({
  operation: z.enum(reportedOperations),
  event_id: text()
    .default('')
    .meta({ description: 'Id of the event; an event that is sent again with the same id is recorded once' }),
  event_seq: z.int().optional(),
  event_time: line().meta({ description: 'The time of the event' }),
  attempt: z.int().optional().meta({ description: 'The attempt of the activity, from 0' }),
  tags: z
    .array(text())
    .default([])
    .meta({ description: 'Tags of the form `key=value`, by which sagas can be searched' }),
  tenant: text().default('').meta({ description: 'Unset: that of the header `x-tenant`' }),
  trace_parent: line(),
  parent_saga_id: text().default('').meta({ description: 'The saga that started this one' }),
  saga_id: line(),
  activity_id: line(),
  service_name: line(),
  order: int32(),
  time_out_seconds: int32(),
  add_time: line(),
  parameter: z
    .unknown()
    .optional()
    .meta({ description: `Of ActivityExecuteStarted: ${payloadNote}` }),
  parameter_base64: z
    .base64()
    .max(proseCharsMax)
    .optional()
    .meta({ description: 'Bytes, in place of `parameter`' }),
  result: z
    .unknown()
    .optional()
    .meta({ description: `Of ActivityEnded: ${payloadNote}` }),
  result_base64: z
    .base64()
    .max(proseCharsMax)
    .optional()
    .meta({ description: 'Bytes, in place of `result`' }),
  status: line(),
  retries: int32(),
  activity_retry_type: z.enum(['Execute', 'Compensate']).default('Execute'),
  errors: z.string().max(proseCharsMax).default(''),
})

const { $schema: _, ...eventJsonSchema } = z.toJSONSchema(eventShape, { io: 'input', unrepresentable: 'any' })

const examples = [
  { operation: 'SagaStarted', event_id: 'trip-42-1', saga_id: 'trip-42', service_name: 'booking' },
  {
    operation: 'ActivityExecuteStarted',
    event_id: 'trip-42-2',
    saga_id: 'trip-42',
    activity_id: 'trip-42-flight',
    time_out_seconds: 30,
    parameter: { seats: 2 },
  },
]

/**
 * The body of `POST /saga_events`. Items are validated one by one later, so that only the bad ones are
 * refused.
 */
const jsonEventsShape = z.object({
  events: list(z.unknown().meta({ ...eventJsonSchema, id: 'ReportedSagaEvent', examples }), eventsMax).refine(
    (events) => events.length > 0,
    { error: 'is empty' },
  ),
})

/** Returns each event of a body as a report, or the error why it cannot be read. */
const readJsonReports = (events: readonly unknown[], metadata: CallMetadata) =>
  readReports(events, toMessage, metadata)

/** @throws DomainError invalid-parameters */
function toMessage(given: unknown): ReportedEvent {
  if (typeof given !== 'object' || given === null) throw invalidParameters(['the event is not an object'])
  const event = readParameters(eventShape, given)
  const message = {
    id: event.event_id,
    seq: event.event_seq,
    time: parseEventTime(event.event_time) ?? undefined,
    attempt: event.attempt,
    tags: event.tags,
    tenant: event.tenant,
    traceParent: event.trace_parent,
    parentSagaId: event.parent_saga_id,
    // Each message ignores the fields of others.
    [methods[event.operation]]: {
      sagaId: event.saga_id,
      activityId: event.activity_id,
      serviceName: event.service_name,
      order: event.order,
      timeOutSeconds: event.time_out_seconds,
      addTime: event.add_time,
      parameterData: payloadOf(event.parameter, event.parameter_base64),
      resultData: payloadOf(event.result, event.result_base64),
      status: event.status,
      retries: event.retries,
      activityRetryType: RetryType[event.activity_retry_type],
      errors: event.errors,
    },
  }
  return ReportedEvent.fromPartial(message as Partial<ReportedEvent>)
}

function payloadOf(value: unknown, base64: string | undefined): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64')
  if (value === undefined) return Buffer.alloc(0)
  if (value instanceof JsonText) return Buffer.from(value.text)
  // A form sends strings, and objects of strings.
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Reads the tenant and the trace of an HTTP request, with the rules of gRPC metadata.
 *
 * @param tenantOtherwise the tenant of events that name none
 * @throws DomainError invalid-parameters
 */
function readHttpMetadata(headers: IncomingHttpHeaders, tenantOtherwise: string): CallMetadata {
  // Node joins a repeated header with a comma.
  const tenant = headers['x-tenant']?.toString()
  if (tenant?.includes(',')) throw invalidParameters(['x-tenant must have one value, without a comma'])
  if (tenant !== undefined && /[^ -~]/.test(tenant)) throw invalidParameters(['x-tenant is invalid'])
  return {
    tenant: identifier(tenant, 'x-tenant') ?? tenantOtherwise,
    traceParent: traceParentOf(headers.traceparent?.toString()),
  }
}

/** Returns the guard for tokens that may report. */
const reporter = (isForCertificates: boolean): Guard<Peer> =>
  documented(
    { who: 'administrators, and tokens with the scope `saga_report`' },
    ({ caller }: { caller: Caller | null }) => peerOfCaller(caller, isForCertificates),
  )

const createEvents = (reportEvents: ReportEvents) =>
  endpoint({
    summary: 'Report up to 1,000 saga events; each is processed separately',
    replies: { 200: z.object({ results: z.array(eventReplyShape) }) },
    input: jsonEventsShape,
    handle: async ({ events }, peer: Peer, call) => {
      const { signal } = call
      const own = ownTenant(peer.tenants)
      const metadata = readHttpMetadata(call.raw.request.headers, own)
      if (metadata.tenant !== own) requireOwnTenant(peer, metadata.tenant)
      const reports = readJsonReports(events, metadata)
      const address = senderAddress(call.raw.request.ip)
      const outcomes = await reportEvents({ reports, peer, address, givenUp: () => signal.aborted })
      report.logFailures(outcomes, call.logger)
      return ok({ results: outcomes.map(presentEventReply) })
    },
  })
