import type { Database } from '@switchyard/db'
import { type Caller, scopes } from '@switchyard/domain/access'
import {
  anyone,
  auditAuthor,
  clearSessionCookie,
  created,
  endpoint,
  filledText,
  fromOwnOrigin,
  noContent,
  ok,
  oneOf,
  type Route,
  route,
  setSessionCookie,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { SessionDependencies } from './sessions.js'
import * as sessions from './sessions.js'

const sessionShape = z
  .object({
    user: z.object({ id: z.int(), username: z.string(), name: z.string(), is_admin: z.boolean() }),
    scopes: z.array(oneOf(scopes)),
    expires_at: z.date().meta({ description: 'The latest time at which the session ends' }),
    provider: z
      .string()
      .optional()
      .meta({ description: 'The single sign-on provider with which the session started. Missing: a token' }),
  })
  .meta({
    id: 'Session',
    description: 'A browser session with the rights of the token with which it started',
  })

const noSessionShape = z
  .object({ user: z.null(), scopes: z.array(oneOf(scopes)).max(0) })
  .meta({ id: 'NoSession', description: 'The browser is not signed in' })

const sessionOrNoneShape = z.union([sessionShape, noSessionShape])

const presentSession = (
  { user, token }: Caller,
  { expiresAt, provider }: { expiresAt: Date; provider: string | null },
): z.output<typeof sessionShape> => ({
  user: { id: user.id, username: user.username, name: user.name, is_admin: user.admin },
  scopes: [...token.scopes],
  expires_at: expiresAt,
  ...(provider !== null && { provider }),
})

const noSession: z.output<typeof noSessionShape> = { user: null, scopes: [] }

/** The session of a browser. Every service accepts its cookie. */
export const sessionRoutes = (deps: SessionDependencies): Route[] => [
  route('POST', '/session', fromOwnOrigin, beginSession(deps), { jsonOnly: true }),
  route('GET', '/session', anyone, showSession),
  route('DELETE', '/session', fromOwnOrigin, endSession(deps.database)),
]

const headers = { 'Cache-Control': 'no-store' }

const beginSession = (deps: SessionDependencies) =>
  endpoint({
    summary: 'Sign in with a token; the response sets the session cookie',
    replies: { 201: sessionShape },
    headers: { 'Set-Cookie': 'The cookie of the session, which no script can read' },
    input: z.object({ token: filledText().meta({ description: 'The secret of a token with any scopes' }) }),
    async handle({ token }, _caller, call) {
      const { holder, session, secret } = await sessions.signIn(deps, token, call)
      setSessionCookie(call, secret, session.expiresAt)
      return created(presentSession(holder, session), headers)
    },
  })

const showSession = endpoint({
  summary: 'Get the current session; without a session, its user is null',
  replies: { 200: sessionOrNoneShape },
  input: z.object({}),
  async handle(_input, caller: Caller | null, call) {
    // Otherwise, the browser would keep sending a cookie that does not work.
    if (caller === null && call.raw.request.headers.cookie !== undefined) clearSessionCookie(call)
    return ok(caller?.session ? presentSession(caller, caller.session) : noSession, headers)
  },
})

const endSession = (database: Database) =>
  endpoint({
    summary: 'Sign out: end the session and invalidate its cookie',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller | null, call) {
      await sessions.signOut(database, caller, (signedIn) => auditAuthor(signedIn, call))
      clearSessionCookie(call)
      return noContent(headers)
    },
  })
