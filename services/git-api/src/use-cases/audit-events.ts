import {
  type AuditEvent,
  type AuditFilter,
  findAuditEvent,
  listAuditEvents as listStoredEvents,
  listAuditEventsBefore as listStoredEventsBefore,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Dependencies, Rows } from '../dependencies.js'

export const listAuditEvents = ({ database }: Dependencies, filter: AuditFilter, rows: Rows) =>
  listStoredEvents(database, filter, rows)

/** The entries before one, the newest first, so that new entries do not move those of the next page. */
export const listAuditEventsBefore = (
  { database }: Dependencies,
  filter: AuditFilter,
  rows: { before: number | undefined; take: number },
) => listStoredEventsBefore(database, filter, rows)

/** @throws DomainError not-found */
export async function getAuditEvent({ database }: Dependencies, id: number): Promise<AuditEvent> {
  const event = await findAuditEvent(database, BigInt(id))
  if (!event) throw notFound()
  return event
}
