import type { Database } from '@switchyard/db'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import {
  administrator,
  endpoint,
  keysetParameters,
  keysetReply,
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
import { optional, optionalText } from '../shapes/parameters.js'
import * as audit from './audit.js'

const auditEventShape = z
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
  .meta({
    id: 'AuditEvent',
    description: 'An audit log entry: a change to users, tokens, members, branches or messages',
  })

export const auditEventRoutes = ({ database }: { database: Database }): Route[] =>
  refusingUnknown([
    route('GET', '/audit_events', administrator, listAuditEvents(database)),
    route('GET', '/audit_events/:id', administrator, getAuditEvent(database)),
  ])

const listAuditEvents = (database: Database) =>
  endpoint({
    summary: 'List audit log entries, newest first',
    replies: { 200: z.array(auditEventShape) },
    input: z.object({
      ...pageParameters,
      ...keysetParameters,
      page_token: optional(rowId()).meta({ description: 'From `Link` of the previous page' }),
      entity_type: optionalText(text()),
      entity_id: optionalText(text()),
      author_id: optional(rowId()),
      event_name: optionalText(text()),
      search: optional(searchedText()).meta({
        description:
          'Part of the event name, the type or id of the entity, or the name of the author, case-insensitive',
      }),
      created_after: optional(time()),
      created_before: optional(time()),
    }),
    async handle(given, administrator: Caller, call) {
      const filter = {
        entityType: given.entity_type,
        entityId: given.entity_id,
        authorId: given.author_id,
        eventName: given.event_name,
        search: given.search,
        createdAfter: given.created_after,
        createdBefore: given.created_before,
        tenants: boundTenantsOf(administrator),
      }
      if (given.pagination === 'keyset') {
        // Reads one entry more than the page has, to know whether there is a next page.
        const rows = { before: given.page_token, take: given.per_page + 1 }
        const found = await audit.listAuditEventsBefore(database, filter, rows)
        const items = found.slice(0, given.per_page)
        const next = found.length > items.length ? String(items.at(-1)?.id) : null
        return keysetReply(items.map(audit.auditEntryOf), next, call)
      }
      const { events, total } = await audit.listAuditEvents(database, filter, rowsOf(given))
      return pageReply(events.map(audit.auditEntryOf), given, total, call)
    },
  })

const getAuditEvent = (database: Database) =>
  endpoint({
    summary: 'Get an audit log entry',
    replies: { 200: auditEventShape },
    input: z.object({ id: rowId() }),
    async handle({ id }, administrator: Caller) {
      const event = await audit.getAuditEvent(database, id, boundTenantsOf(administrator))
      return ok(audit.auditEntryOf(event))
    },
  })
