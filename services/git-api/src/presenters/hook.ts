import type { Webhook } from '@switchyard/db'
import { oneOf } from '@switchyard/service-kit/http'
import type { ProjectWebhookEvent } from '@switchyard/webhooks'
import { z } from 'zod'

export const hookShape = z
  .object({
    id: z.int(),
    url: z.string(),
    project_id: z.int().nullable(),
    push_events: z.boolean(),
    push_events_branch_filter: z.string(),
    tag_push_events: z.boolean(),
    note_events: z.boolean(),
    job_events: z.boolean(),
    issues_events: z.boolean(),
    confidential_issues_events: z.boolean(),
    merge_requests_events: z.boolean(),
    confidential_note_events: z.boolean(),
    pipeline_events: z.boolean(),
    wiki_page_events: z.boolean(),
    deployment_events: z.boolean(),
    releases_events: z.boolean(),
    repository_update_events: z.boolean(),
    enable_ssl_verification: z.boolean(),
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

/**
 * A webhook in GitLab's shape, with its failures. Events that only GitLab has are off. The secret is never shown.
 */
export function presentHook(webhook: Webhook): z.output<typeof hookShape> {
  const isOn = (event: ProjectWebhookEvent) => webhook.events.includes(event)
  return {
    id: webhook.id,
    url: webhook.url,
    project_id: webhook.projectId,
    push_events: isOn('push'),
    push_events_branch_filter: '',
    tag_push_events: isOn('tag_push'),
    note_events: isOn('note'),
    job_events: isOn('job'),
    issues_events: false,
    confidential_issues_events: false,
    merge_requests_events: false,
    confidential_note_events: false,
    pipeline_events: isOn('pipeline'),
    wiki_page_events: false,
    deployment_events: isOn('deployment'),
    releases_events: isOn('releases'),
    repository_update_events: false,
    enable_ssl_verification: true,
    alert_status: webhook.enabled ? 'executable' : 'disabled',
    disabled_until: null,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabledReason,
    disabled_at: webhook.disabledAt,
    failing_since: webhook.failingSince,
    consecutive_failures: webhook.consecutiveFailures,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
  }
}
