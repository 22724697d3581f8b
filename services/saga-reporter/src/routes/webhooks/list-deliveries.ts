import type { Caller } from '@switchyard/domain/access'
import { endpoint, pageParameters, pageReply, rowId, rowsOf } from '@switchyard/service-kit/http'
import { listedDeliveryShape, presentListedDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import { listDeliveries as findDeliveries } from '../../use-cases/read-webhooks.js'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `GET /sagas/webhooks/:id/deliveries`, newest first. */
export const listDeliveries = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'What a webhook was told, the newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      id: rowId(),
      ...tenantParameter,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ id, tenant, state, ...page }, caller: Caller, call) {
      const wanted = { webhookId: id, state }
      const { deliveries, total } = await findDeliveries(
        database,
        webhooksFor(caller, tenant),
        wanted,
        rowsOf(page),
      )
      return pageReply(deliveries.map(presentListedDelivery), page, total, call)
    },
  })
