import { endpoint, filledText, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentWebhook, webhookShape } from '../../presenters/webhook.js'
import { listWebhooks as findWebhooks } from '../../use-cases/read-webhooks.js'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `GET /sagas/webhooks`: of every tenant, or of one. */
export const listWebhooks = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Webhooks of sagas, of every tenant or of one',
    replies: { 200: z.array(webhookShape) },
    input: z.object({ ...pageParameters, tenant: filledText().optional() }),
    async handle({ tenant, ...page }, _caller, call) {
      const owner = tenant === undefined ? ofSagas : ({ scope: 'saga', tenant } as const)
      const { webhooks, total } = await findWebhooks(database, owner, rowsOf(page))
      return pageReply(webhooks.map(presentWebhook), page, total, call)
    },
  })
