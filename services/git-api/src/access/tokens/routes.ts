import type { Database } from '@switchyard/db'
import { unauthenticated } from '@switchyard/domain'
import { type Caller, requireScope } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  documented,
  endpoint,
  filledText,
  flag,
  type Guard,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import {
  optional,
  optionalDay,
  optionalTenantList,
  optionalText,
  scopeList,
  tokenDescription,
} from '../../shapes/parameters.js'
import { issuedTokenShape, presentIssuedToken, presentToken, tokenShape } from './present.js'
import type { TokenOrder } from './store.js'
import * as tokenRotation from './token-rotation.js'
import type { TokenDependencies } from './tokens.js'
import * as tokens from './tokens.js'

export function tokenRoutes(deps: TokenDependencies): Route[] {
  const path = '/personal_access_tokens'
  return [
    route('POST', '/users/:id/personal_access_tokens', administrator, createToken(deps.database)),
    route('POST', '/user/personal_access_tokens', signedIn, createOwnToken(deps)),
    route('GET', path, signedIn, listTokens(deps.database)),
    route('GET', `${path}/self`, tokenHolder, showOwnToken(deps.database)),
    route('DELETE', `${path}/self`, tokenHolder, revokeOwnToken(deps)),
    route('POST', `${path}/self/rotate`, selfRotation, rotateOwnToken(deps)),
    route('GET', `${path}/:id`, signedIn, showToken(deps.database)),
    route('DELETE', `${path}/:id`, signedIn, revokeToken(deps)),
    route('POST', `${path}/:id/rotate`, signedIn, rotateToken(deps)),
  ]
}

/** A token of any scope may read and revoke itself. */
const tokenHolder: Guard<Caller> = documented({ who: 'every token that works' }, ({ caller }) => {
  if (!caller) throw unauthenticated()
  return caller
})

/**
 * A token needs a scope to replace itself, so that a leaked read-only token cannot lock its owner out.
 */
const selfRotation: Guard<Caller> = documented(
  { who: 'tokens with the scope `api` or `self_rotate`' },
  ({ caller }) => requireScope(caller, 'self_rotate'),
)

const createToken = (database: Database) =>
  endpoint({
    summary: 'Create a token for a user; only this response contains its secret',
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
      return created(
        presentIssuedToken(await tokens.issuePersonalToken(database, administrator, token, author)),
      )
    },
  })

const createOwnToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Create a token for yourself in a browser session; only this response contains its secret',
    replies: { 201: issuedTokenShape },
    input: z.object({
      name: filledText(),
      description: tokenDescription(),
      scopes: scopeList(),
      expires_at: optionalDay().meta({ description: 'Unset: the latest day that is allowed' }),
    }),
    async handle({ expires_at: expiresAt = null, ...given }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      return created(
        presentIssuedToken(await tokens.issueOwnToken(deps, caller, { ...given, expiresAt }, author)),
      )
    },
  })

const showOwnToken = (database: Database) =>
  endpoint({
    summary: 'Get the token of this request',
    replies: { 200: tokenShape },
    input: z.object({}),
    handle: async (_input, caller: Caller) => ok(presentToken(await tokens.getOwnToken(database, caller))),
  })

const showToken = (database: Database) =>
  endpoint({
    summary: "Get a token: any token for administrators, the caller's own tokens for everybody else",
    replies: { 200: tokenShape },
    input: z.object({ id: rowId() }),
    handle: async ({ id }, caller: Caller) =>
      ok(presentToken(await tokens.getTokenFor(database, caller, id))),
  })

const revokeOwnToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Revoke the token of this request',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller, call) {
      await tokens.revokeTokenFor(deps, caller, caller.token.id, auditAuthor(caller, call))
      return noContent()
    },
  })

const revokeToken = (deps: TokenDependencies) =>
  endpoint({
    summary: "Revoke a token: any token for administrators, the caller's own tokens for everybody else",
    replies: { 204: null },
    input: z.object({ id: rowId() }),
    async handle({ id }, caller: Caller, call) {
      await tokens.revokeTokenFor(deps, caller, id, auditAuthor(caller, call))
      return noContent()
    },
  })

const rotateOwnToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Rotate the token of this request; only this response contains the new secret',
    replies: { 200: issuedTokenShape },
    input: z.object({ expires_at: optionalDay() }),
    handle: async ({ expires_at }, caller: Caller, call) =>
      ok(presentIssuedToken(await tokenRotation.rotateOwnToken(deps, expires_at, auditAuthor(caller, call)))),
  })

const rotateToken = (deps: TokenDependencies) =>
  endpoint({
    summary:
      "Rotate a token: any token for administrators, the caller's own tokens for everybody else; only this response contains the new secret",
    replies: { 200: issuedTokenShape },
    input: z.object({ id: rowId(), expires_at: optionalDay() }),
    async handle({ id, expires_at: expiresAt }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      return ok(
        presentIssuedToken(await tokenRotation.rotateTokenFor(deps, caller, { id, expiresAt }, author)),
      )
    },
  })

const columns = {
  created: 'createdAt',
  created_at: 'createdAt',
  expires: 'expiresAt',
  expires_at: 'expiresAt',
  last_used: 'lastUsedAt',
  last_used_at: 'lastUsedAt',
  name: 'name',
} as const satisfies Record<string, TokenOrder['column']>

type Sort = `${keyof typeof columns}_${TokenOrder['direction']}`

const sorts = Object.keys(columns).flatMap((name) => [`${name}_asc`, `${name}_desc`]) as [Sort, ...Sort[]]

const orderOf = (sort: Sort | undefined): TokenOrder => {
  if (sort === undefined) return { column: 'id', direction: 'desc' }
  const [, name = '', direction] = /^(.+)_(asc|desc)$/.exec(sort) ?? []
  return { column: columns[name as keyof typeof columns], direction: direction as TokenOrder['direction'] }
}

const input = z.object({
  ...pageParameters,
  user_id: optional(rowId()),
  state: optional(z.enum(['active', 'inactive'])),
  revoked: optional(flag()),
  search: optionalText(text()),
  created_before: optional(time()),
  created_after: optional(time()),
  last_used_before: optional(time()),
  last_used_after: optional(time()),
  expires_before: optionalDay(),
  expires_after: optionalDay(),
  sort: optional(z.enum(sorts)),
})

const listTokens = (database: Database) =>
  endpoint({
    summary: "List tokens: all tokens for administrators, the caller's own tokens for everybody else",
    replies: { 200: z.array(tokenShape) },
    refusals: [404],
    input,
    async handle(given, caller: Caller, call) {
      const filter = {
        userId: given.user_id,
        state: given.state,
        revoked: given.revoked,
        search: given.search,
        createdBefore: given.created_before,
        createdAfter: given.created_after,
        lastUsedBefore: given.last_used_before,
        lastUsedAfter: given.last_used_after,
        expiresBefore: given.expires_before,
        expiresAfter: given.expires_after,
      }
      const found = await tokens.listTokens(database, caller, filter, orderOf(given.sort), rowsOf(given))
      return pageReply(found.tokens.map(presentToken), given, found.total, call)
    },
  })
