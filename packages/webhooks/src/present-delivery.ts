import type { ListedDelivery, WebhookDelivery } from '@switchyard/db'
import { z } from 'zod'

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

/** What a request would be like. */
export const previewShape = z
  .object({ event: z.string(), content_type: z.string(), body: z.string() })
  .meta({ id: 'WebhookPreview', description: 'The body that a webhook would send of an event' })

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

/** A delivery with its request and the response of the last attempt. */
export const presentDelivery = (delivery: WebhookDelivery): z.output<typeof deliveryShape> => ({
  ...presentListedDelivery(delivery),
  request_headers: delivery.requestHeaders,
  request_body: delivery.payload,
  response_headers: delivery.responseHeaders,
  response_body: delivery.responseBody,
})
