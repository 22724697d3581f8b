import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import { getDelivery as findDelivery } from '../../use-cases/read-webhooks.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `GET /sagas/webhooks/:id/deliveries/:delivery_id` */
export const getDelivery = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, delivery_id }) {
      const delivery = await findDelivery(database, ofSagas, { webhookId: id, deliveryId: delivery_id })
      return ok(presentDelivery(delivery))
    },
  })
