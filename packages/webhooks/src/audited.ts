import {
  type AuditAuthor,
  type Database,
  type DatabaseOrTransaction,
  deletingMsMax,
  inTransaction,
  recordAuditEvent,
  type Webhook,
} from '@switchyard/db'

/**
 * Changes a webhook and adds an audit entry in one transaction. The entry has the host only, because the rest of a URL may
 * contain a secret.
 */
export const auditedWebhook = (
  database: Database,
  author: AuditAuthor,
  eventName: 'webhook_created' | 'webhook_changed' | 'webhook_deleted',
  change: (transaction: DatabaseOrTransaction) => Promise<Webhook>,
): Promise<Webhook> =>
  inTransaction(
    database,
    async (transaction) => {
      const webhook = await change(transaction)
      const { id, scope, projectId, host, events, enabled } = webhook
      await recordAuditEvent(transaction, author, {
        eventName,
        entityType: projectId === null ? 'Webhook' : 'Project',
        entityId: projectId ?? id,
        details: { webhook_id: id, scope, host, events, enabled },
      })
      return webhook
    },
    // A webhook is deleted with its log of deliveries.
    deletingMsMax,
  )
