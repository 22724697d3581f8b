import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok, rowId } from '@switchyard/service-kit/http'
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
    input: z.object({ ...optionalWebhookParameters, id: rowId(), ...tenantParameter }),
    async handle({ id, tenant, service_name: serviceName, ...given }, caller: Caller, call) {
      const changes = { ...given, serviceName }
      const author = auditAuthor(caller, call)
      const webhook = await auditedWebhook(dependencies.database, author, 'webhook_changed', (transaction) =>
        changeWebhook(transaction, webhooksFor(caller, tenant), id, changes, rulesOf(dependencies)),
      )
      return ok(presentWebhook(webhook))
    },
  })
