import { endpoint, rowId, versioned } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentWebhook, webhookShape } from '../../presenters/webhook.js'
import { getWebhook as findWebhook } from '../../use-cases/read-webhooks.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `GET /sagas/webhooks/:id` */
export const getWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One webhook',
    replies: { 200: webhookShape },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id }) {
      const webhook = await findWebhook(database, ofSagas, id)
      return versioned(presentWebhook(webhook), webhook)
    },
  })
