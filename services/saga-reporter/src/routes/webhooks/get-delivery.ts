import { getDelivery as findDelivery, getWebhook } from '@switchyard/db'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `GET /sagas/webhooks/:id/deliveries/:delivery_id` */
export const getDelivery = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), delivery_id: z.uuid() }),
    async handle({ id, delivery_id }) {
      await getWebhook(database, ofSagas, id)
      return ok(presentDelivery(await findDelivery(database, id, delivery_id)))
    },
  })
