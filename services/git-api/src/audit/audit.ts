import {
  type AuditAuthor,
  type AuditEvent,
  type Database,
  type PrismaTransaction,
  recordAuditEvent,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { findAuditEvent } from './store.js'

export { auditEntryOf } from '@switchyard/db'
export { listAuditEvents, listAuditEventsBefore } from './store.js'

type Details = Parameters<typeof recordAuditEvent>[2]['details']

/** Records a change of a project in the audit log. */
export const recordProjectEvent = (
  transaction: PrismaTransaction,
  author: AuditAuthor,
  entityId: number,
  eventName: string,
  details: Details,
) => recordAuditEvent(transaction, author, { eventName, entityType: 'Project', entityId, details })

/** Records a change of a user in the audit log. */
export const recordUserEvent = (
  transaction: PrismaTransaction,
  author: AuditAuthor,
  entityId: number,
  eventName: string,
  details: Details,
) => recordAuditEvent(transaction, author, { eventName, entityType: 'User', entityId, details })

/**
 * @param tenants tenants whose entries about sagas may be read; null: all tenants
 * @throws DomainError not-found
 */
export async function getAuditEvent(
  database: Database,
  id: number,
  tenants: readonly string[] | null,
): Promise<AuditEvent> {
  const event = await findAuditEvent(database, BigInt(id), { tenants })
  if (!event) throw notFound()
  return event
}
