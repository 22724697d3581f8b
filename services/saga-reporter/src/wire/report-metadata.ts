import type { Metadata } from '@grpc/grpc-js'
import { invalidParameters } from '@switchyard/domain'
import { defaultTenant, parseEventTime } from '@switchyard/domain/saga'

/** What a caller may say of an event beside the contract's message. */
export interface ReportMetadata {
  /** `x-tenant`; sagas of different tenants know nothing of each other. */
  tenant: string
  /** `x-event-id`: the same id is the same event, however often it is sent. */
  eventId: string | null
  /** `x-event-time`; null when missing or unreadable. */
  eventTime: Date | null
  /** `x-event-seq`: the caller's number of the event; null when missing or no such number. */
  eventSeq: number | null
  /** `x-attempt`: which attempt the event is about; null when missing or no such number. */
  attempt: number | null
  /** `traceparent`, when it is one of W3C's. */
  traceParent: string | null
  /** `x-tag`, each `key=value`; what is no such tag is left out. */
  tags: readonly string[]
}

/** Of a tenant, and of ids. */
export const identifierCharsMax = 128
const tagsMax = 16
const traceParentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const tagPattern = /^[^=\p{Cc}]{1,64}=[^\p{Cc}]{0,192}$/u
const noTags: readonly string[] = []

/**
 * @param tenantOtherwise the tenant of an event that names none
 * @throws DomainError invalid-parameters when a tenant or an id is too long or not printable
 */
export function readReportMetadata(metadata: Metadata, tenantOtherwise = defaultTenant): ReportMetadata {
  // One pass over the few that were sent costs less than a question for each that may have been.
  const sent = metadata.getMap()
  return {
    tenant: identifier(sent['x-tenant'], 'x-tenant') ?? tenantOtherwise,
    eventId: identifier(sent['x-event-id'], 'x-event-id'),
    // What is wrong here loses nothing but itself: it is no reason to refuse the event.
    eventTime: sent['x-event-time'] === undefined ? null : parseEventTime(`${sent['x-event-time']}`),
    eventSeq: wholeNumber(sent['x-event-seq'], Number.MAX_SAFE_INTEGER),
    attempt: wholeNumber(sent['x-attempt'], 2 ** 31 - 1),
    traceParent: traceParentOf(sent.traceparent),
    tags: sent['x-tag'] === undefined ? noTags : tagsOf(metadata),
  }
}

type Sent = string | number | Buffer | undefined

/**
 * A tenant or an id; null when it is missing or empty.
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

/** Null for what is no whole number from 0 to `max`. */
export function wholeNumber(value: Sent, max: number): number | null {
  if (value === undefined) return null
  const text = `${value}`.trim()
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : null
}

/** Null for what is no `traceparent` of W3C. */
export function traceParentOf(value: Sent): string | null {
  if (value === undefined) return null
  const text = `${value}`.trim()
  return traceParentPattern.test(text) ? text : null
}

/** HTTP may join what was sent as several headers into one, with commas. Others are part of a tag's value. */
const betweenTags = /,(?=[^=,]{1,64}=)/

const tagsOf = (metadata: Metadata): readonly string[] =>
  validTags(metadata.get('x-tag').flatMap((tags) => `${tags}`.split(betweenTags)))

/** The tags among texts, each once, at most 16. */
export const validTags = (texts: readonly string[]): readonly string[] =>
  texts.length === 0
    ? noTags
    : [...new Set(texts.map((tag) => tag.trim()))].filter((tag) => tagPattern.test(tag)).slice(0, tagsMax)
