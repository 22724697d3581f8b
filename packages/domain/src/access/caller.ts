import type { Scope } from './scopes.js'

/** The user and the token of a request. */
export interface Caller {
  user: { id: number; username: string; name: string; email: string; admin: boolean; state: string }
  token: CallerToken
}

export interface CallerToken {
  id: number
  scopes: readonly Scope[]
  /** The project of a project token. Null or missing: the token works in every project of its user. */
  projectId?: number | null
  /** A deploy token, which fetches from its project with the rights of a reporter. */
  deploy?: true
}

/** The caller within a project; null when the caller's token belongs to another project. */
export const callerIn = (projectId: number, caller: Caller | null): Caller | null =>
  (caller?.token.projectId ?? projectId) === projectId ? caller : null
