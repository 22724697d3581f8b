import type { Scope } from './scopes.js'

/** Who sends a request, as found by the token that came with it. */
export interface Caller {
  user: { id: number; username: string; name: string; email: string; admin: boolean; state: string }
  token: CallerToken
}

export interface CallerToken {
  id: number
  scopes: readonly Scope[]
  /** The one project in which the token works; null or missing: wherever its user may go. */
  projectId?: number | null
}

/** The caller as a project sees them: nobody, when their token is another project's. */
export const callerIn = (projectId: number, caller: Caller | null): Caller | null =>
  (caller?.token.projectId ?? projectId) === projectId ? caller : null
