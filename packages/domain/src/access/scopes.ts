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

export type Scope = (typeof scopes)[number]
