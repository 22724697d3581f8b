import { accepted, endpoint } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery, redeliverWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { ofProject } from '../../use-cases/project-hooks.js'
import { hookId } from './hook-parameters.js'

/** `POST /projects/:id/hooks/:hook_id/deliveries/:delivery_id/redeliver`: sends it again soon, under the same id. */
export const redeliverHook = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ ...hookId, delivery_id: z.uuid() }),
    handle: async ({ hook_id, delivery_id }, { project }: ProjectCall) =>
      accepted(presentDelivery(await redeliverWebhook(database, ofProject(project), hook_id, delivery_id))),
  })
