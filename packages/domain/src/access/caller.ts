import type { Scope } from './scopes.js'

/** Who sends a request, as found by the token that came with it. */
export interface Caller {
  user: { id: number; username: string; name: string; email: string; admin: boolean; state: string }
  token: { id: number; scopes: readonly Scope[] }
}
