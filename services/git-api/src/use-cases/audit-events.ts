import {
  type AuditEvent,
  type AuditFilter,
  findAuditEvent,
  listAuditEvents as listStoredEvents,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Dependencies, Rows } from '../dependencies.js'

export const listAuditEvents = ({ database }: Dependencies, filter: AuditFilter, rows: Rows) =>
  listStoredEvents(database, filter, rows)

/** @throws DomainError not-found */
export async function getAuditEvent({ database }: Dependencies, id: number): Promise<AuditEvent> {
  const event = await findAuditEvent(database, BigInt(id))
  if (!event) throw notFound()
  return event
}
