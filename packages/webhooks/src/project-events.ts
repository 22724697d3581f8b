/** What webhooks of projects can tell of, by the names of GitLab's hooks without `_events`. */
export const projectWebhookEvents = ['push', 'tag_push', 'note', 'job', 'pipeline'] as const

export type ProjectWebhookEvent = (typeof projectWebhookEvents)[number]
