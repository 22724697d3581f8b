import { administrator, type Route } from '@switchyard/service-kit/http'
import { tenantRoute } from '../tenant-route.js'
import { createWebhook } from './create-webhook.js'
import { deleteWebhook } from './delete-webhook.js'
import type { WebhookDependencies } from './dependencies.js'
import { getDelivery } from './get-delivery.js'
import { getWebhook } from './get-webhook.js'
import { listDeliveries } from './list-deliveries.js'
import { listWebhooks } from './list-webhooks.js'
import { redeliver } from './redeliver.js'
import { testWebhook } from './test-webhook.js'
import { updateWebhook } from './update-webhook.js'

const base = '/sagas/webhooks'

/** The routes of webhooks that are called about sagas. */
export const webhookRoutes = (dependencies: WebhookDependencies): Route[] => [
  tenantRoute('GET', base, administrator, listWebhooks(dependencies)),
  tenantRoute('POST', base, administrator, createWebhook(dependencies)),
  tenantRoute('GET', `${base}/:id`, administrator, getWebhook(dependencies)),
  tenantRoute('PUT', `${base}/:id`, administrator, updateWebhook(dependencies)),
  tenantRoute('DELETE', `${base}/:id`, administrator, deleteWebhook(dependencies)),
  tenantRoute('POST', `${base}/:id/test`, administrator, testWebhook(dependencies)),
  tenantRoute('GET', `${base}/:id/deliveries`, administrator, listDeliveries(dependencies)),
  tenantRoute('GET', `${base}/:id/deliveries/:delivery_id`, administrator, getDelivery(dependencies)),
  tenantRoute(
    'POST',
    `${base}/:id/deliveries/:delivery_id/redeliver`,
    administrator,
    redeliver(dependencies),
  ),
]
