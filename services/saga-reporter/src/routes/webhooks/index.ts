import { administrator, type Route, route } from '@switchyard/service-kit/http'
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
  route('GET', base, administrator, listWebhooks(dependencies)),
  route('POST', base, administrator, createWebhook(dependencies)),
  route('GET', `${base}/:id`, administrator, getWebhook(dependencies)),
  route('PUT', `${base}/:id`, administrator, updateWebhook(dependencies)),
  route('DELETE', `${base}/:id`, administrator, deleteWebhook(dependencies)),
  route('POST', `${base}/:id/test`, administrator, testWebhook(dependencies)),
  route('GET', `${base}/:id/deliveries`, administrator, listDeliveries(dependencies)),
  route('GET', `${base}/:id/deliveries/:delivery_id`, administrator, getDelivery(dependencies)),
  route('POST', `${base}/:id/deliveries/:delivery_id/redeliver`, administrator, redeliver(dependencies)),
]
