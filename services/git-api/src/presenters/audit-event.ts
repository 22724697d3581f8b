import type { AuditEvent } from '@switchyard/db'

/** GitLab's shape; `details` also names the author, so that an entry reads by itself. */
export const presentAuditEvent = (event: AuditEvent) => ({
  id: Number(event.id),
  author_id: event.authorId,
  entity_id: event.entityId,
  entity_type: event.entityType,
  event_name: event.eventName,
  details: {
    ...(event.details as Record<string, unknown>),
    author_name: event.authorName,
    token_id: event.tokenId,
    ip_address: event.ipAddress,
  },
  request_id: event.requestId,
  created_at: event.createdAt,
})
