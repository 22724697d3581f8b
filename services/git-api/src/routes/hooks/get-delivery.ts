import { getDelivery, getWebhook } from '@switchyard/db'
import { endpoint, ok } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery } from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { ofProject } from '../../use-cases/project-hooks.js'
import { hookId } from './hook-parameters.js'

/** `GET /projects/:id/hooks/:hook_id/deliveries/:delivery_id` */
export const getHookDelivery = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: z.object({ ...hookId, delivery_id: z.uuid() }),
    async handle({ hook_id, delivery_id }, { project }: ProjectCall) {
      const { id } = await getWebhook(database, ofProject(project), hook_id)
      return ok(presentDelivery(await getDelivery(database, id, delivery_id)))
    },
  })
