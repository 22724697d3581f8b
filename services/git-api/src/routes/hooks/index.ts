import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createHook } from './create-hook.js'
import { deleteHook } from './delete-hook.js'
import { getHookDelivery } from './get-delivery.js'
import { getHook } from './get-hook.js'
import { listHookDeliveries } from './list-deliveries.js'
import { listHooks } from './list-hooks.js'
import { redeliverHook } from './redeliver.js'
import { testHook } from './test-hook.js'
import { updateHook } from './update-hook.js'

/** Who is told over HTTP of pushes, comments and statuses. */
export function hookRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const hooks = '/projects/:id/hooks'
  const deliveries = `${hooks}/:hook_id/deliveries`
  return [
    route('GET', hooks, maintain, listHooks(deps)),
    route('POST', hooks, maintain, createHook(deps)),
    route('GET', `${hooks}/:hook_id`, maintain, getHook(deps)),
    route('PUT', `${hooks}/:hook_id`, maintain, updateHook(deps)),
    route('DELETE', `${hooks}/:hook_id`, maintain, deleteHook(deps)),
    route('POST', `${hooks}/:hook_id/test/:trigger`, maintain, testHook(deps)),
    route('GET', deliveries, maintain, listHookDeliveries(deps)),
    route('GET', `${deliveries}/:delivery_id`, maintain, getHookDelivery(deps)),
    route('POST', `${deliveries}/:delivery_id/redeliver`, maintain, redeliverHook(deps)),
  ]
}
