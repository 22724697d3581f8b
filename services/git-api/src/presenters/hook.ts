import type { Webhook } from '@switchyard/db'
import type { ProjectWebhookEvent } from '@switchyard/webhooks'

/**
 * A webhook in GitLab's shape, with the events of GitLab's that never happen here, and how it has been doing. Its
 * secret is written, never read.
 */
export function presentHook(webhook: Webhook) {
  const tellsOf = (event: ProjectWebhookEvent) => webhook.events.includes(event)
  return {
    id: webhook.id,
    url: webhook.url,
    project_id: webhook.projectId,
    push_events: tellsOf('push'),
    push_events_branch_filter: '',
    tag_push_events: tellsOf('tag_push'),
    note_events: tellsOf('note'),
    job_events: tellsOf('job'),
    issues_events: false,
    confidential_issues_events: false,
    merge_requests_events: false,
    confidential_note_events: false,
    pipeline_events: false,
    wiki_page_events: false,
    deployment_events: false,
    releases_events: false,
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
