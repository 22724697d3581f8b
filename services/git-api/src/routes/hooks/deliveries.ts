import {
  accepted,
  endpoint,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
} from '@switchyard/service-kit/http'
import {
  deliveryShape,
  listedDeliveryShape,
  presentDelivery,
  presentListedDelivery,
} from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { getHookDelivery, listHookDeliveries, redeliverHook } from '../../use-cases/project-hooks.js'

export function deliveryRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/hooks/:hook_id/deliveries'
  return [
    route('GET', path, maintain, listDeliveries(deps)),
    route('GET', `${path}/:delivery_id`, maintain, getDelivery(deps)),
    route('POST', `${path}/:delivery_id/redeliver`, maintain, redeliver(deps)),
  ]
}

const hookId = { hook_id: rowId() }
const deliveryIds = z.object({ ...hookId, delivery_id: z.uuid() })

const listDeliveries = (deps: Dependencies) =>
  endpoint({
    summary: 'What a webhook was told, the newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      ...hookId,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ hook_id: hookId, state, ...page }, access: ProjectCall, call) {
      const found = await listHookDeliveries(deps, access, { hookId, state }, rowsOf(page))
      return pageReply(found.deliveries.map(presentListedDelivery), page, found.total, call)
    },
  })

const getDelivery = (deps: Dependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: deliveryIds,
    handle: async ({ hook_id, delivery_id }, access: ProjectCall) =>
      ok(presentDelivery(await getHookDelivery(deps, access, hook_id, delivery_id))),
  })

const redeliver = (deps: Dependencies) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: deliveryIds,
    handle: async ({ hook_id, delivery_id }, access: ProjectCall) =>
      accepted(presentDelivery(await redeliverHook(deps, access, hook_id, delivery_id))),
  })
