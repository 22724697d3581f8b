import type { Caller } from '@switchyard/domain/access'
import { endpoint, rowId, versioned } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentWebhook, webhookShape } from '../../presenters/webhook.js'
import { getWebhook as findWebhook } from '../../use-cases/read-webhooks.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `GET /sagas/webhooks/:id` */
export const getWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One webhook',
    replies: { 200: webhookShape },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller) {
      const webhook = await findWebhook(database, webhooksFor(caller, tenant), id)
      return versioned(presentWebhook(webhook), webhook)
    },
  })
