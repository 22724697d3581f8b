import type { AuditEvent } from '@switchyard/db'
import { z } from 'zod'

export const auditEventShape = z
  .object({
    id: z.int(),
    author_id: z.int().nullable(),
    entity_id: z.string(),
    entity_type: z.string(),
    event_name: z.string(),
    details: z.looseObject({
      author_name: z.string(),
      token_id: z.int().nullable(),
      ip_address: z.string().nullable(),
    }),
    request_id: z.string().nullable(),
    created_at: z.date(),
  })
  .meta({ id: 'AuditEvent', description: 'Who did what to users, tokens, members, branches and messages' })

/** GitLab's shape; `details` repeats the author. */
export const presentAuditEvent = (event: AuditEvent): z.output<typeof auditEventShape> => ({
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
