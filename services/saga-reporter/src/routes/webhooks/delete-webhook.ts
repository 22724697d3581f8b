import { deleteWebhook as removeWebhook } from '@switchyard/db'
import { endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `DELETE /sagas/webhooks/:id`, with the log of its deliveries. */
export const deleteWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    input: z.object({ id: rowId() }),
    async handle({ id }) {
      await removeWebhook(database, ofSagas, id)
      return noContent()
    },
  })
