import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { changeWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { presentWebhook } from '../../presenters/webhook.js'
import { ofSagas, rulesOf, type WebhookDependencies } from './dependencies.js'
import { optionalWebhookParameters } from './webhook-parameters.js'

/** `PUT /sagas/webhooks/:id`: changes what is given. */
export const updateWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    input: z.object({ ...optionalWebhookParameters, id: rowId() }),
    async handle({ id, service_name: serviceName, ...given }) {
      const changes = { ...given, serviceName }
      const webhook = await changeWebhook(dependencies.database, ofSagas, id, changes, rulesOf(dependencies))
      return ok(presentWebhook(webhook))
    },
  })
