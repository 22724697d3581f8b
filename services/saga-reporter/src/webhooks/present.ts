import { messageFormats } from '@switchyard/domain'
import { oneOf } from '@switchyard/service-kit/http'
import { presentWebhookState, sagaWebhookEvents, type Webhook, webhookStateShape } from '@switchyard/webhooks'
import { z } from 'zod'

export const webhookShape = z
  .object({
    id: z.int(),
    tenant: z.string().nullable(),
    url: z.string(),
    events: z.array(oneOf(sagaWebhookEvents)),
    service_name: z.string().nullable(),
    custom_webhook_template: z.string().nullable(),
    message_format: oneOf(messageFormats).nullable(),
    ...webhookStateShape,
  })
  .meta({ id: 'SagaWebhook', description: 'Who is told of sagas, and how it has been going' })

/** Returns a webhook for administrators. Its secret can be written but not read. */
export const presentWebhook = (webhook: Webhook): z.output<typeof webhookShape> => ({
  id: webhook.id,
  tenant: webhook.tenant,
  url: webhook.url,
  events: webhook.events,
  service_name: webhook.serviceName,
  custom_webhook_template: webhook.bodyTemplate,
  message_format: webhook.messageFormat,
  ...presentWebhookState(webhook),
})
