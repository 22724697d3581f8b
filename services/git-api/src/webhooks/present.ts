import { messageFormats } from '@switchyard/domain'
import { oneOf } from '@switchyard/service-kit/http'
import {
  branchFilterStrategies,
  type ProjectWebhookEvent,
  presentWebhookState,
  projectWebhookEvents,
  type SilentProjectEvent,
  silentProjectEvents,
  type Webhook,
  webhookStateShape,
} from '@switchyard/webhooks'
import { z } from 'zod'

type EventFlag = `${ProjectWebhookEvent | SilentProjectEvent}_events`

const eventNames = [...projectWebhookEvents, ...silentProjectEvents]

const eventFlags = <Value>(shown: (event: string) => Value) =>
  Object.fromEntries(eventNames.map((event) => [`${event}_events`, shown(event)])) as Record<EventFlag, Value>

export const hookShape = z
  .object({
    id: z.int(),
    url: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    project_id: z.int().nullable(),
    ...eventFlags(() => z.boolean()),
    push_events_branch_filter: z.string(),
    branch_filter_strategy: oneOf(branchFilterStrategies),
    enable_ssl_verification: z.boolean(),
    custom_webhook_template: z.string().nullable(),
    message_format: oneOf(messageFormats).nullable(),
    custom_headers: z
      .array(z.object({ key: z.string() }))
      .meta({ description: 'Only the names; values are never returned' }),
    url_variables: z.array(z.unknown()),
    alert_status: oneOf(['executable', 'disabled']),
    disabled_until: z.null(),
    ...webhookStateShape,
  })
  .meta({
    id: 'ProjectHook',
    description: 'A webhook of a project, with its settings and its recent failures',
  })

/**
 * Returns a webhook in GitLab's shape, with its failures but without the secret and the values of headers.
 */
export const presentHook = (webhook: Webhook): z.output<typeof hookShape> => ({
  id: webhook.id,
  url: webhook.url,
  name: webhook.name,
  description: webhook.description,
  project_id: webhook.projectId,
  ...eventFlags((event) => webhook.events.includes(event)),
  push_events_branch_filter: webhook.branchFilter ?? '',
  branch_filter_strategy: webhook.branchFilterStrategy,
  enable_ssl_verification: webhook.verifyTls,
  custom_webhook_template: webhook.bodyTemplate,
  message_format: webhook.messageFormat,
  custom_headers: webhook.headerNames.map((key) => ({ key })),
  url_variables: [],
  alert_status: webhook.enabled ? 'executable' : 'disabled',
  disabled_until: null,
  ...presentWebhookState(webhook),
})
