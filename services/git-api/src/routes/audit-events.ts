import {
  administrator,
  endpoint,
  ok,
  pageParameters,
  pageReply,
  type Route,
  refusingUnknown,
  route,
  rowId,
  rowsOf,
  searchedText,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { auditEventShape, presentAuditEvent } from '../presenters/audit-event.js'
import * as auditEvents from '../use-cases/audit-events.js'
import { optional, optionalText } from '../wire/parameters.js'

export const auditEventRoutes = (deps: Dependencies): Route[] =>
  refusingUnknown([
    route('GET', '/audit_events', administrator, listAuditEvents(deps)),
    route('GET', '/audit_events/:id', administrator, getAuditEvent(deps)),
  ])

const listAuditEvents = (deps: Dependencies) =>
  endpoint({
    summary: 'The audit log, the newest entry first',
    replies: { 200: z.array(auditEventShape) },
    input: z.object({
      ...pageParameters,
      entity_type: optionalText(text()),
      entity_id: optionalText(text()),
      author_id: optional(rowId()),
      event_name: optionalText(text()),
      search: optional(searchedText()).meta({
        description:
          'Part of the name of the event, the type or id of the entity, or the name of the author, in upper or lower case',
      }),
      created_after: optional(time()),
      created_before: optional(time()),
    }),
    async handle(given, _administrator, call) {
      const filter = {
        entityType: given.entity_type,
        entityId: given.entity_id,
        authorId: given.author_id,
        eventName: given.event_name,
        search: given.search,
        createdAfter: given.created_after,
        createdBefore: given.created_before,
      }
      const { events, total } = await auditEvents.listAuditEvents(deps, filter, rowsOf(given))
      return pageReply(events.map(presentAuditEvent), given, total, call)
    },
  })

const getAuditEvent = (deps: Dependencies) =>
  endpoint({
    summary: 'One entry of the audit log',
    replies: { 200: auditEventShape },
    input: z.object({ id: rowId() }),
    handle: async ({ id }) => ok(presentAuditEvent(await auditEvents.getAuditEvent(deps, id))),
  })
