import { getWebhook, listDeliveries } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { listedDeliveryShape, presentListedDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { ofProject } from '../../use-cases/project-hooks.js'
import { hookId } from './hook-parameters.js'

/** `GET /projects/:id/hooks/:hook_id/deliveries`, newest first. */
export const listHookDeliveries = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'What a webhook was told, the newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      ...hookId,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ hook_id, state, ...page }, { project }: ProjectCall, call) {
      const { id } = await getWebhook(database, ofProject(project), hook_id)
      const { deliveries, total } = await listDeliveries(database, { webhookId: id, state }, rowsOf(page))
      return pageReply(deliveries.map(presentListedDelivery), page, total, call)
    },
  })
