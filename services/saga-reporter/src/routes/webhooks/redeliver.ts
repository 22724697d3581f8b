import type { Caller } from '@switchyard/domain/access'
import { accepted, endpoint, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery, redeliverWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `POST /sagas/webhooks/:id/deliveries/:delivery_id/redeliver`: sends it again soon, under the same id. */
export const redeliver = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const delivery = await redeliverWebhook(database, webhooksFor(caller, tenant), id, deliveryId)
      return accepted(presentDelivery(delivery))
    },
  })
