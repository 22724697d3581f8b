import type { WebhookDelivery } from '@switchyard/db'
import { text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ListedDelivery } from './store/deliveries.js'
import type { Webhook } from './store/hooks.js'

/** The form of the body of a request: parameters of every kind of webhook. */
export const bodyParameters = {
  custom_webhook_template: text()
    .nullish()
    .meta({ description: 'Mustache template for JSON, with `{{path.of.a.field}}` for values of the event' }),
  message_format: text()
    .nullish()
    .meta({ description: 'A message for people instead of the event: slack, teams, mattermost or plain' }),
}

/** Whether a webhook is called, and how its recent deliveries went: fields of every kind of webhook. */
export const webhookStateShape = {
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  disabled_at: z.date().nullable(),
  failing_since: z.date().nullable(),
  consecutive_failures: z.int(),
  created_at: z.date(),
  updated_at: z.date(),
}

export const presentWebhookState = (webhook: Webhook): z.output<z.ZodObject<typeof webhookStateShape>> => ({
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason,
  disabled_at: webhook.disabledAt,
  failing_since: webhook.failingSince,
  consecutive_failures: webhook.consecutiveFailures,
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
})

export const listedDeliveryShape = z
  .object({
    id: z.string(),
    webhook_id: z.int(),
    event: z.string(),
    state: z.string().meta({ enum: ['pending', 'succeeded', 'failed'] }),
    attempts: z.int(),
    next_attempt_at: z.date().nullable(),
    created_at: z.date(),
    attempted_at: z.date().nullable(),
    duration_ms: z.int().nullable(),
    response_status: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'ListedDelivery', description: 'A delivery of a webhook' })

export const deliveryShape = z
  .object({
    ...listedDeliveryShape.shape,
    request_headers: z.unknown(),
    request_body: z.string(),
    response_headers: z.unknown(),
    response_body: z.string().nullable(),
  })
  .meta({ id: 'Delivery', description: 'A delivery of a webhook, with its request and the last response' })

/** The request that would be sent. */
export const previewShape = z
  .object({ event: z.string(), content_type: z.string(), body: z.string() })
  .meta({ id: 'WebhookPreview', description: 'The body that a webhook would send for an event' })

export const presentListedDelivery = (delivery: ListedDelivery): z.output<typeof listedDeliveryShape> => ({
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

/** Presents a delivery with its request and the response of the last attempt. */
export const presentDelivery = (delivery: WebhookDelivery): z.output<typeof deliveryShape> => ({
  ...presentListedDelivery(delivery),
  request_headers: delivery.requestHeaders,
  request_body: delivery.payload,
  response_headers: delivery.responseHeaders,
  response_body: delivery.responseBody,
})
