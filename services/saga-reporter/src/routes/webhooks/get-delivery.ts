import type { Caller } from '@switchyard/domain/access'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import { getDelivery as findDelivery } from '../../use-cases/read-webhooks.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `GET /sagas/webhooks/:id/deliveries/:delivery_id` */
export const getDelivery = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const wanted = { webhookId: id, deliveryId }
      const delivery = await findDelivery(database, webhooksFor(caller, tenant), wanted)
      return ok(presentDelivery(delivery))
    },
  })
