import type { Metadata } from '@grpc/grpc-js'
import { invalidParameters } from '@switchyard/domain'
import { parseEventTime } from '@switchyard/domain/saga'

/** What a caller may say of an event beside the contract's message. */
export interface ReportMetadata {
  /** `x-tenant`; sagas of different tenants know nothing of each other. */
  tenant: string
  /** `x-event-id`: the same id is the same event, however often it is sent. */
  eventId: string | null
  /** `x-event-time`; null when missing or unreadable. */
  eventTime: Date | null
}

export const defaultTenant = 'default'

const charsMax = 128

/**
 * @param tenantOtherwise the tenant of an event that names none
 * @throws DomainError invalid-parameters when a tenant or an id is too long or not printable
 */
export function readReportMetadata(metadata: Metadata, tenantOtherwise = defaultTenant): ReportMetadata {
  return {
    tenant: identifier(metadata, 'x-tenant') ?? tenantOtherwise,
    eventId: identifier(metadata, 'x-event-id'),
    // A wrong time loses nothing but itself: it is no reason to refuse the event.
    eventTime: parseEventTime(firstText(metadata, 'x-event-time')),
  }
}

function identifier(metadata: Metadata, key: string): string | null {
  const text = firstText(metadata, key)
  if (text.length > charsMax)
    throw invalidParameters([`${key} is too long (maximum is ${charsMax} characters)`])
  if (/\p{Cc}/u.test(text)) throw invalidParameters([`${key} is invalid`])
  return text === '' ? null : text
}

const firstText = (metadata: Metadata, key: string): string => String(metadata.get(key)[0] ?? '').trim()
