import type { Webhook } from '@switchyard/db'
import { messageFormats } from '@switchyard/domain'
import { oneOf } from '@switchyard/service-kit/http'
import {
  branchFilterStrategies,
  type ProjectWebhookEvent,
  projectWebhookEvents,
  type SilentProjectEvent,
  silentProjectEvents,
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
      .meta({ description: 'Names alone: values are never shown' }),
    url_variables: z.array(z.unknown()),
    alert_status: oneOf(['executable', 'disabled']),
    disabled_until: z.null(),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    disabled_at: z.date().nullable(),
    failing_since: z.date().nullable(),
    consecutive_failures: z.int(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({
    id: 'ProjectHook',
    description: 'A webhook of a project, with its settings and its recent failures',
  })

/** A webhook in GitLab's shape, with its failures. The secret and the values of headers are never shown. */
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
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason,
  disabled_at: webhook.disabledAt,
  failing_since: webhook.failingSince,
  consecutive_failures: webhook.consecutiveFailures,
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
})
