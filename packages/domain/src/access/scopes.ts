/**
 * The scopes of a token. `api` includes all scopes that are not {@link scopesBeyondApi}, within the rights of
 * the token's user.
 */
export const scopes = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'self_rotate',
  'read_metrics',
  'read_sagas',
  'saga_report',
  'manage_jobs',
  'manage_broadcasts',
] as const

/** The scopes that a project token can have: those of operations within a project. */
export const projectTokenScopes = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'self_rotate',
] as const

export type Scope = (typeof scopes)[number]

/** Scopes of operations that `api` does not include. They admit users who are not administrators. */
const scopesBeyondApi: readonly Scope[] = [
  'read_metrics',
  'read_sagas',
  'saga_report',
  'manage_jobs',
  'manage_broadcasts',
]

/**
 * Returns whether the scopes `held` include all rights of the scopes `wanted`, for tokens of the same user.
 */
export const includesScopes = (held: readonly Scope[], wanted: readonly Scope[]): boolean =>
  wanted.every((scope) => held.includes(scope) || (held.includes('api') && !scopesBeyondApi.includes(scope)))
