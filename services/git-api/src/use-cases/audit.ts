import { type AuditAuthor, type DatabaseOrTransaction, recordAuditEvent } from '@switchyard/db'

type Details = Parameters<typeof recordAuditEvent>[2]['details']

/** Records a change of a project in the audit log. Called in the transaction of the change. */
export const recordProjectEvent = (
  transaction: DatabaseOrTransaction,
  author: AuditAuthor,
  entityId: number,
  eventName: string,
  details: Details,
) => recordAuditEvent(transaction, author, { eventName, entityType: 'Project', entityId, details })

/** The same for a user. */
export const recordUserEvent = (
  transaction: DatabaseOrTransaction,
  author: AuditAuthor,
  entityId: number,
  eventName: string,
  details: Details,
) => recordAuditEvent(transaction, author, { eventName, entityType: 'User', entityId, details })
