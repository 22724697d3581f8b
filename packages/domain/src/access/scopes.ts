/** What a token may be used for. `api` includes every other scope, within the rights of its user. */
export const scopes = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'self_rotate',
  'read_metrics',
  'read_sagas',
  'saga_report',
] as const

/** What a token of one project may be used for: nothing that belongs to no project. */
export const projectTokenScopes = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'self_rotate',
] as const

export type Scope = (typeof scopes)[number]

/** Scopes that open something to users who are no administrators; `api` alone does not. */
const scopesBeyondApi: readonly Scope[] = ['read_metrics', 'read_sagas']

/** Whether a token with the scopes `held` may do all that a token with the scopes `wanted` may do for the same user. */
export const includesScopes = (held: readonly Scope[], wanted: readonly Scope[]): boolean =>
  wanted.every((scope) => held.includes(scope) || (held.includes('api') && !scopesBeyondApi.includes(scope)))
