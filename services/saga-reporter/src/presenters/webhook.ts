import type { ListedDelivery, Webhook, WebhookDelivery } from '@switchyard/db'

/** A webhook as administrators see it. Its secret is written, never read. */
export const presentWebhook = (webhook: Webhook) => ({
  id: webhook.id,
  tenant: webhook.tenant,
  url: webhook.url,
  events: webhook.events,
  service_name: webhook.serviceName,
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason,
  disabled_at: webhook.disabledAt,
  failing_since: webhook.failingSince,
  consecutive_failures: webhook.consecutiveFailures,
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
})

export const presentListedDelivery = (delivery: ListedDelivery) => ({
  id: delivery.id,
  webhook_id: delivery.webhookId,
  event: delivery.event,
  state: delivery.state,
  attempts: delivery.attempts,
  next_attempt_at: delivery.nextAttemptAt,
  created_at: delivery.createdAt,
  attempted_at: delivery.attemptedAt,
  duration_ms: delivery.durationMs,
  response_status: delivery.responseStatus,
  error: delivery.error,
})

/** With what was sent, and what was answered at the last attempt. */
export const presentDelivery = (delivery: WebhookDelivery) => ({
  ...presentListedDelivery(delivery),
  request_headers: delivery.requestHeaders,
  request_body: delivery.payload,
  response_headers: delivery.responseHeaders,
  response_body: delivery.responseBody,
})
