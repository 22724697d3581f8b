import { unauthenticated } from '@switchyard/domain'
import { type Caller, requireScope } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  documented,
  endpoint,
  filledText,
  type Guard,
  noContent,
  ok,
  type Route,
  route,
  rowId,
  signedIn,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { issuedTokenShape, presentIssuedToken, presentToken, tokenShape } from '../../presenters/token.js'
import * as rotation from '../../use-cases/rotate-token.js'
import { getOwnToken, getTokenFor, issuePersonalToken, revokeTokenFor } from '../../use-cases/tokens.js'
import { optionalDay, optionalTenantList, scopeList, tokenDescription } from '../../wire/parameters.js'
import { listTokens } from './list-tokens.js'

export function tokenRoutes(deps: Dependencies): Route[] {
  const tokens = '/personal_access_tokens'
  return [
    route('POST', '/users/:id/personal_access_tokens', administrator, createToken(deps)),
    route('GET', tokens, signedIn, listTokens(deps)),
    route('GET', `${tokens}/self`, tokenHolder, showOwnToken(deps)),
    route('DELETE', `${tokens}/self`, tokenHolder, revokeOwnToken(deps)),
    route('POST', `${tokens}/self/rotate`, selfRotation, rotateOwnToken(deps)),
    route('GET', `${tokens}/:id`, signedIn, showToken(deps)),
    route('DELETE', `${tokens}/:id`, signedIn, revokeToken(deps)),
    route('POST', `${tokens}/:id/rotate`, signedIn, rotateToken(deps)),
  ]
}

/** A token of any scope may read and revoke itself. */
const tokenHolder: Guard<Caller> = documented({ who: 'every token that works' }, ({ caller }) => {
  if (!caller) throw unauthenticated()
  return caller
})

/** A token can only replace itself with a scope for that, so that a leaked read-only token does not lock its owner out. */
const selfRotation: Guard<Caller> = documented(
  { who: 'tokens with the scope `api` or `self_rotate`' },
  ({ caller }) => requireScope(caller, 'self_rotate'),
)

const createToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Make a token for a user; its secret is shown only here',
    replies: { 201: issuedTokenShape },
    input: z.object({
      id: rowId(),
      name: filledText(),
      description: tokenDescription(),
      scopes: scopeList(),
      expires_at: optionalDay(),
      tenants: optionalTenantList().meta({
        description: 'The only tenants of sagas that the token may name. Unset: every tenant',
      }),
    }),
    async handle({ id: userId, expires_at: expiresAt = null, ...given }, administrator: Caller, call) {
      const author = auditAuthor(administrator, call)
      const token = { ...given, userId, expiresAt }
      return created(presentIssuedToken(await issuePersonalToken(deps, administrator, token, author)))
    },
  })

const showOwnToken = (deps: Dependencies) =>
  endpoint({
    summary: 'The token of this request',
    replies: { 200: tokenShape },
    input: z.object({}),
    handle: async (_input, caller: Caller) => ok(presentToken(await getOwnToken(deps, caller))),
  })

const showToken = (deps: Dependencies) =>
  endpoint({
    summary: "One token: any for administrators, one of the caller's own for everybody else",
    replies: { 200: tokenShape },
    input: z.object({ id: rowId() }),
    handle: async ({ id }, caller: Caller) => ok(presentToken(await getTokenFor(deps, caller, id))),
  })

const revokeOwnToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Revoke the token of this request',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller, call) {
      await revokeTokenFor(deps, caller, caller.token.id, auditAuthor(caller, call))
      return noContent()
    },
  })

const revokeToken = (deps: Dependencies) =>
  endpoint({
    summary: "Revoke a token: any for administrators, one of the caller's own for everybody else",
    replies: { 204: null },
    input: z.object({ id: rowId() }),
    async handle({ id }, caller: Caller, call) {
      await revokeTokenFor(deps, caller, id, auditAuthor(caller, call))
      return noContent()
    },
  })

const rotateOwnToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Replace the token of this request; the new secret is shown only here',
    replies: { 200: issuedTokenShape },
    input: z.object({ expires_at: optionalDay() }),
    handle: async ({ expires_at }, caller: Caller, call) =>
      ok(presentIssuedToken(await rotation.rotateOwnToken(deps, expires_at, auditAuthor(caller, call)))),
  })

const rotateToken = (deps: Dependencies) =>
  endpoint({
    summary:
      "Replace a token: any for administrators, one of the caller's own for everybody else; the secret is shown only here",
    replies: { 200: issuedTokenShape },
    input: z.object({ id: rowId(), expires_at: optionalDay() }),
    async handle({ id, expires_at: expiresAt }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      return ok(presentIssuedToken(await rotation.rotateTokenFor(deps, caller, { id, expiresAt }, author)))
    },
  })
