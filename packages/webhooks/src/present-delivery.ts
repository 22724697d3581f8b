import type { ListedDelivery, WebhookDelivery } from '@switchyard/db'

/** A delivery as lists of the API show it. */
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
