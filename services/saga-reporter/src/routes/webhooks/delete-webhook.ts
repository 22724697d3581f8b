import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { auditedWebhook, removeWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `DELETE /sagas/webhooks/:id`, with the log of its deliveries. */
export const deleteWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Delete a webhook with the log of its deliveries',
    replies: { 204: null },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller, call) {
      await auditedWebhook(database, auditAuthor(caller, call), 'webhook_deleted', (transaction) =>
        removeWebhook(transaction, webhooksFor(caller, tenant), id),
      )
      return noContent()
    },
  })
