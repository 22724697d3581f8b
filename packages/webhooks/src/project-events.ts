/** Events of project webhooks: the parameter names of GitLab without `_events`. */
export const projectWebhookEvents = [
  'push',
  'tag_push',
  'note',
  'job',
  'pipeline',
  'deployment',
  'releases',
] as const

export type ProjectWebhookEvent = (typeof projectWebhookEvents)[number]
