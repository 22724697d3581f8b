import {
  type AuditAuthor,
  type BroadcastMessage,
  type Database,
  type DatabaseOrTransaction,
  inTransaction,
  recordAuditEvent,
} from '@switchyard/db'

const noteLengthMax = 200

/** Changes a message and adds an audit entry in one transaction. */
export const auditedChange = (
  { database }: { database: Database },
  author: AuditAuthor,
  eventName: 'broadcast_message_created' | 'broadcast_message_changed' | 'broadcast_message_deleted',
  change: (transaction: DatabaseOrTransaction) => Promise<BroadcastMessage>,
): Promise<BroadcastMessage> =>
  inTransaction(database, async (transaction) => {
    const message = await change(transaction)
    await recordAuditEvent(transaction, author, {
      eventName,
      entityType: 'BroadcastMessage',
      entityId: message.id,
      details: {
        message: message.message.slice(0, noteLengthMax),
        starts_at: message.startsAt.toISOString(),
        ends_at: message.endsAt.toISOString(),
      },
    })
    return message
  })
