import type { Caller } from '@switchyard/domain/access'
import {
  anyone,
  auditAuthor,
  clearSessionCookie,
  endpoint,
  filledText,
  fromOwnOrigin,
  type Route,
  route,
  setSessionCookie,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { noSession, presentSession, sessionOrNoneShape, sessionShape } from '../presenters/session.js'
import { signIn, signOut } from '../use-cases/sessions.js'

/** The session of a browser. Every service accepts its cookie. */
export const sessionRoutes = (deps: Dependencies): Route[] => [
  route('POST', '/session', fromOwnOrigin, beginSession(deps), { jsonOnly: true }),
  route('GET', '/session', anyone, showSession),
  route('DELETE', '/session', fromOwnOrigin, endSession(deps)),
]

const headers = { 'Cache-Control': 'no-store' }

const beginSession = (deps: Dependencies) =>
  endpoint({
    summary: 'Sign in with a token: the answer sets the cookie of the session',
    replies: { 201: sessionShape },
    headers: { 'Set-Cookie': 'The cookie of the session, which no script can read' },
    input: z.object({ token: filledText().meta({ description: 'The secret of a token with any scopes' }) }),
    async handle({ token }, _caller, call) {
      const { holder, session, secret } = await signIn(deps, token, call)
      setSessionCookie(call, secret, session.expiresAt)
      return { status: 201, body: presentSession(holder, session), headers }
    },
  })

const showSession = endpoint({
  summary: 'The session of the cookie; without a session, its user is null',
  replies: { 200: sessionOrNoneShape },
  input: z.object({}),
  async handle(_input, caller: Caller | null, call) {
    // Otherwise, the browser would keep sending a cookie that does not work.
    if (caller === null && call.raw.request.headers.cookie !== undefined) clearSessionCookie(call)
    return {
      status: 200,
      body: caller?.session ? presentSession(caller, caller.session) : noSession,
      headers,
    }
  },
})

const endSession = (deps: Dependencies) =>
  endpoint({
    summary: 'Sign out: the session ends, and its cookie does not work any more',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller | null, call) {
      await signOut(deps, caller, (signedIn) => auditAuthor(signedIn, call))
      clearSessionCookie(call)
      return { status: 204, headers }
    },
  })
