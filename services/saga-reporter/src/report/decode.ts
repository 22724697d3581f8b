import type { Metadata } from '@grpc/grpc-js'
import { ReportEventsRequest, type ReportedEvent } from '@switchyard/contracts/saga-ingest'
import { DomainError, invalidParameters } from '@switchyard/domain'
import { defaultTenant, isZeroGuid, parseEventTime, type RawSagaEvent } from '@switchyard/domain/saga'
import {
  decoders,
  methods,
  type ReportedOperation,
  reportedOperations,
  serializeRequest,
} from '../shapes/operations.js'
import { identifierCharsMax } from '../shapes/parameters.js'

/** An event of an operation of the contract, as a caller reported it. */
export interface Report {
  raw: RawSagaEvent
  /** The message of the operation, in protobuf's binary format. */
  request: Uint8Array
  metadata: ReportMetadata
}

/** The optional metadata of an event, which is not part of the contract's message. */
export interface ReportMetadata {
  /** `x-tenant`; sagas of different tenants are separate. */
  tenant: string
  /** `x-event-id`: events with the same id are the same event, however often it is sent. */
  eventId: string | null
  /** `x-event-time`; null when missing or unreadable. */
  eventTime: Date | null
  /** `x-event-seq`: the caller's sequence number of the event; null when missing or invalid. */
  eventSeq: number | null
  /** `x-attempt`: the attempt that the event is about; null when missing or invalid. */
  attempt: number | null
  /** `traceparent` in W3C form; null when missing or invalid. */
  traceParent: string | null
  /** `x-parent-saga-id`: the saga that started the saga of the event; null when it is missing or empty. */
  parentSagaId: string | null
  /** `x-tag`, each `key=value`; invalid tags are left out. */
  tags: readonly string[]
}

const tagsMax = 16
const traceParentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const tagPattern = /^[^=\p{Cc}]{1,64}=[^\p{Cc}]{0,192}$/u
const noTags: readonly string[] = []

/**
 * @param tenantOtherwise the tenant when the event names none
 * @throws DomainError invalid-parameters when a tenant or an id is too long or not printable
 */
export function readReportMetadata(metadata: Metadata, tenantOtherwise = defaultTenant): ReportMetadata {
  const sent = metadata.getMap()
  return {
    tenant: identifier(sent['x-tenant'], 'x-tenant') ?? tenantOtherwise,
    eventId: identifier(sent['x-event-id'], 'x-event-id'),
    // An unreadable value is ignored, because it is no reason to refuse the event.
    eventTime: sent['x-event-time'] === undefined ? null : parseEventTime(`${sent['x-event-time']}`),
    eventSeq: wholeNumber(sent['x-event-seq'], Number.MAX_SAFE_INTEGER),
    attempt: wholeNumber(sent['x-attempt'], 2 ** 31 - 1),
    traceParent: traceParentOf(sent.traceparent),
    parentSagaId: parentSagaIdOf(sent['x-parent-saga-id']?.toString().trim(), 'x-parent-saga-id'),
    tags: sent['x-tag'] === undefined ? noTags : tagsOf(metadata),
  }
}

type Sent = string | number | Buffer | undefined

/**
 * Returns a tenant or an id; null when it is missing or empty.
 *
 * @throws DomainError invalid-parameters when it is too long or not printable
 */
export function identifier(value: Sent, key: string): string | null {
  if (value === undefined) return null
  const text = `${value}`.trim()
  if (text.length > identifierCharsMax)
    throw invalidParameters([`${key} is too long (maximum is ${identifierCharsMax} characters)`])
  if (/\p{Cc}/u.test(text)) throw invalidParameters([`${key} is invalid`])
  return text === '' ? null : text
}

/**
 * Returns the id of a parent unchanged; null when it is missing, blank or an all-zero GUID.
 *
 * @throws DomainError invalid-parameters when it is too long or not printable
 */
function parentSagaIdOf(value: Sent, key: string): string | null {
  const id = identifier(value, key)
  return id === null || isZeroGuid(id) ? null : `${value}`
}

/** Returns a whole number from 0 to `max`; null for any other value. */
export function wholeNumber(value: Sent, max: number): number | null {
  if (value === undefined) return null
  const text = `${value}`.trim()
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : null
}

/** Returns a W3C `traceparent`; null for any other value. */
export function traceParentOf(value: Sent): string | null {
  if (value === undefined) return null
  const text = `${value}`.trim()
  return traceParentPattern.test(text) ? text : null
}

/**
 * Matches the comma between tags, because HTTP may join several headers. A comma without `key=` after it is
 * part of a tag's value.
 */
const betweenTags = /,(?=[^=,]{1,64}=)/

const tagsOf = (metadata: Metadata): readonly string[] =>
  validTags(metadata.get('x-tag').flatMap((tags) => `${tags}`.split(betweenTags).map((tag) => tag.trim())))

/** Returns the valid, distinct tags among texts, at most 16. */
const validTags = (texts: readonly string[]): readonly string[] =>
  texts.length === 0 ? noTags : [...new Set(texts)].filter((tag) => tagPattern.test(tag)).slice(0, tagsMax)

/** The largest number of events in one call. */
export const eventsMax = 1000

/**
 * @throws DomainError invalid-parameters when the bytes are not such a message, or when it has no events or
 *   more than 1,000
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

/** The metadata of a call, for its events that name no tenant or no trace. */
export type CallMetadata = Pick<ReportMetadata, 'tenant' | 'traceParent'>

/**
 * Reads each event separately.
 *
 * @param events the events in the format of their protocol
 * @param toMessage converts one event
 * @returns for each event, in their order, the report, or the error why the event cannot be read
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

/** Returns the operation of an event, and its request in the bytes that a single call would send. */
function requestOf(event: ReportedEvent): { operation: ReportedOperation; request: Uint8Array } {
  for (const operation of reportedOperations) {
    const message = event[methods[operation]]
    if (message !== undefined) return { operation, request: serializeRequest(operation, message) }
  }
  throw invalidParameters(['request is missing'])
}

/** Parses a time with the rule of `x-event-time`: an unreadable time counts as missing. */
const timeOf = (time: Date | undefined): Date | null =>
  time === undefined || Number.isNaN(time.getTime()) ? null : parseEventTime(time.toISOString())
