import { listAuditEvents as findAuditEvents } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowId, rowsOf, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { auditEventShape, presentAuditEvent } from '../../presenters/audit-event.js'
import { optional, optionalText } from '../optional.js'

const input = z.object({
  ...pageParameters,
  entity_type: optionalText(text()),
  entity_id: optionalText(text()),
  author_id: optional(rowId()),
  event_name: optionalText(text()),
  created_after: optional(time()),
  created_before: optional(time()),
})

/** `GET /audit_events`: newest first. */
export const listAuditEvents = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'The audit log, the newest entry first',
    replies: { 200: z.array(auditEventShape) },
    input,
    async handle(given, _administrator, call) {
      const filter = {
        entityType: given.entity_type,
        entityId: given.entity_id,
        authorId: given.author_id,
        eventName: given.event_name,
        createdAfter: given.created_after,
        createdBefore: given.created_before,
      }
      const { events, total } = await findAuditEvents(database, filter, rowsOf(given))
      return pageReply(events.map(presentAuditEvent), given, total, call)
    },
  })
