/** What a token may be used for. `api` includes every other scope, within the rights of its user. */
export const scopes = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'read_metrics',
  'read_sagas',
  'saga_report',
] as const

/** What a token of one project may be used for: nothing that belongs to no project. */
export const projectTokenScopes = ['api', 'read_api', 'read_repository', 'write_repository'] as const

export type Scope = (typeof scopes)[number]
