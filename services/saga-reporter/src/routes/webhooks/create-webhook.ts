import type { Caller } from '@switchyard/domain/access'
import { defaultTenant } from '@switchyard/domain/saga'
import { auditAuthor, created, endpoint, filledText } from '@switchyard/service-kit/http'
import { addWebhook, auditedWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { presentWebhook, webhookShape } from '../../presenters/webhook.js'
import { identifierCharsMax } from '../../wire/report-metadata.js'
import { rulesOf, type WebhookDependencies } from './dependencies.js'
import { optionalWebhookParameters, requiredWebhookParameters } from './webhook-parameters.js'

/** `POST /sagas/webhooks` */
export const createWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    summary: 'Tell a server of sagas',
    replies: { 201: webhookShape },
    input: z.object({
      ...optionalWebhookParameters,
      ...requiredWebhookParameters,
      tenant: filledText(identifierCharsMax).default(defaultTenant),
    }),
    async handle(
      { tenant, service_name: serviceName = null, enabled = true, ...given },
      caller: Caller,
      call,
    ) {
      const fields = {
        ...given,
        serviceName,
        enabled,
        createdBy: caller.user.id,
      }
      const owner = { scope: 'saga', tenant } as const
      const author = auditAuthor(caller, call)
      const webhook = await auditedWebhook(dependencies.database, author, 'webhook_created', (transaction) =>
        addWebhook(transaction, owner, fields, rulesOf(dependencies)),
      )
      return created(presentWebhook(webhook))
    },
  })
