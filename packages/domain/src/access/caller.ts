import type { JobIdentity } from './job-identity.js'
import type { Scope } from './scopes.js'

/** The user and the token of a request. A session has the rights of the token that it began with. */
export interface Caller {
  user: { id: number; username: string; name: string; email: string; admin: boolean; state: string }
  token: CallerToken
  /** The session of the browser that sends the request. Missing: the request carries the token itself. */
  session?: CallerSession
}

export interface CallerSession {
  id: number
  /** Time at which the session ends, unless it ends earlier. */
  expiresAt: Date
  /** Provider of single sign-on by which the user signed in. Null: the user signed in with a token. */
  provider: string | null
}

export interface CallerToken {
  /** Id of the token. 0: an identity token of a CI job, which is not stored. */
  id: number
  scopes: readonly Scope[]
  /** The project of a project token. Null or missing: the token works in every project of its user. */
  projectId?: number | null
  /** The only tenants of sagas that the token may name. Missing or empty: it may name every tenant. */
  tenants?: readonly string[]
  /** Set for a deploy token, which can fetch from its project with the rights of a reporter. */
  deploy?: true
  /** The CI job that holds the token. It acts as the bot of the trust rule that admits it. */
  job?: JobIdentity
}

/** Returns the key by which uses of tokens are counted. CI jobs of the same rule and subject share a key. */
export const countedToken = ({ user, token }: Caller): string =>
  token.job ? `job ${user.id} ${token.job.subject}` : `token ${token.id}`

/** Returns the caller within a project; null when the caller's token belongs to another project. */
export const callerIn = (projectId: number, caller: Caller | null): Caller | null =>
  (caller?.token.projectId ?? projectId) === projectId ? caller : null
