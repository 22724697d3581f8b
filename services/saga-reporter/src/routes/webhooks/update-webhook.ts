import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, preconditionOf, rowId, versioned } from '@switchyard/service-kit/http'
import { auditedWebhook, changeWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { presentWebhook, webhookShape } from '../../presenters/webhook.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { rulesOf, type WebhookDependencies, webhooksFor } from './dependencies.js'
import { optionalWebhookParameters } from './webhook-parameters.js'

/** `PUT /sagas/webhooks/:id`: changes what is given. */
export const updateWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    summary: 'Change a webhook',
    replies: { 200: webhookShape },
    refusals: [412],
    input: z.object({ ...optionalWebhookParameters, id: rowId(), ...tenantParameter }),
    async handle({ id, tenant, service_name: serviceName, ...given }, caller: Caller, call) {
      const change = { id, changes: { ...given, serviceName }, precondition: preconditionOf(call) }
      const author = auditAuthor(caller, call)
      const webhook = await auditedWebhook(dependencies.database, author, 'webhook_changed', (transaction) =>
        changeWebhook(transaction, webhooksFor(caller, tenant), change, rulesOf(dependencies)),
      )
      return versioned(presentWebhook(webhook), webhook)
    },
  })
