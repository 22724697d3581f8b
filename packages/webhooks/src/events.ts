/**
 * Events of project webhooks: the parameter names of GitLab without `_events`. GitLab has no
 * `deployment_impact` and no `impact_rule`.
 */
export const projectWebhookEvents = [
  'push',
  'tag_push',
  'note',
  'job',
  'pipeline',
  'deployment',
  'deployment_impact',
  'impact_rule',
  'releases',
] as const

export type ProjectWebhookEvent = (typeof projectWebhookEvents)[number]

/** Events of GitLab that do not happen here. A webhook can subscribe to them, and shows that it did. */
export const silentProjectEvents = [
  'issues',
  'confidential_issues',
  'merge_requests',
  'confidential_note',
  'wiki_page',
  'repository_update',
  'feature_flag',
  'milestone',
  'emoji',
  'resource_access_token',
  'resource_deploy_token',
  'vulnerability',
] as const

export type SilentProjectEvent = (typeof silentProjectEvents)[number]

/** Events of saga webhooks. The worker's flag sweep causes `saga.overdue` and the events below it. */
export const sagaWebhookEvents = [
  'saga.error',
  'saga.ended',
  'saga.resolved',
  'saga.overdue',
  'saga.stuck',
  'saga.settled',
  'saga.inconsistent',
  'saga.parked',
] as const

export const testEvent = 'test'
