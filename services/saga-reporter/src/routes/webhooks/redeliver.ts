import { accepted, endpoint, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery, redeliverWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { tenantParameter } from '../../wire/search-parameters.js'
import { ofSagas, type WebhookDependencies } from './dependencies.js'

/** `POST /sagas/webhooks/:id/deliveries/:delivery_id/redeliver`: sends it again soon, under the same id. */
export const redeliver = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    handle: async ({ id, delivery_id }) =>
      accepted(presentDelivery(await redeliverWebhook(database, ofSagas, id, delivery_id))),
  })
