import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  type Database,
  type DatabaseOrTransaction,
  inTransaction,
  type PersonalAccessToken,
  type PrismaTransaction,
  type Rows,
  recordAuditEvent,
} from '@switchyard/db'
import { dayMs, forbidden, insufficientScope, invalid, notFound, unauthenticated } from '@switchyard/domain'
import {
  type BoundTenants,
  boundTenantsOf,
  type Caller,
  earlierDay,
  includesScopes,
  includesTenants,
  lastDayProblem,
  startOfDay,
} from '@switchyard/domain/access'
import { type Authenticator, hashToken } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import type { ProjectResourceDependencies } from '../../guards.js'
import { createMember, deleteMember } from '../members/store.js'
import { createUser, findUser } from '../users/store.js'
import type { NewToken, TokenFilter, TokenOrder } from './store.js'
import * as store from './store.js'

export interface TokenDependencies extends ProjectResourceDependencies {
  forgetUsers: Authenticator['forgetUsers']
  /** Longest lifetime in days of a token that users create for themselves. Unset: they cannot create any. */
  ownTokenDaysMax?: number | undefined
}

/** A token with its secret, which is not stored. */
export interface IssuedToken {
  token: PersonalAccessToken
  secret: string
}

/**
 * Returns 160 random bits in GitLab's form, which scanners for leaked secrets recognize.
 *
 * @param kind of the token: `glpat` of a user or a project, `gldt` a deploy token
 */
export const newSecret = (kind: 'glpat' | 'gldt' = 'glpat'): string =>
  `${kind}-${randomBytes(20).toString('base64url')}`

/**
 * @param latestDay the latest day that the token may have; null: there is no limit
 * @throws DomainError invalid when its last day has passed or is after `latestDay`
 */
export async function issueToken(
  database: DatabaseOrTransaction,
  token: Omit<NewToken, 'tokenHash'>,
  latestDay: Date | null,
): Promise<IssuedToken> {
  const problem = lastDayProblem(token.expiresAt, latestDay, new Date())
  if (problem !== null) throw invalid({ expires_at: [problem] })
  const secret = newSecret()
  return { secret, token: await store.createToken(database, { ...token, tokenHash: hashToken(secret) }) }
}

/**
 * Lists tokens: of all users for administrators, the caller's own tokens for other callers.
 *
 * @throws DomainError forbidden for another user's tokens; not-found for an unknown user
 */
export async function listTokens(
  database: Database,
  { user }: Caller,
  given: TokenFilter,
  order: TokenOrder,
  rows: Rows,
) {
  if (!user.admin && (given.userId ?? user.id) !== user.id) throw forbidden()
  const filter = { ...given, userId: user.admin ? given.userId : user.id }
  if (filter.userId !== undefined && !(await findUser(database, filter.userId))) throw notFound('User')
  return store.listTokens(database, filter, order, rows)
}

/** Returns the token of the request. @throws DomainError unauthenticated when it was removed meanwhile */
export async function getOwnToken(database: Database, caller: Caller): Promise<PersonalAccessToken> {
  const token = await store.findToken(database, caller.token.id)
  if (!token) throw unauthenticated()
  return token
}

/**
 * Returns any token for administrators, and one of the caller's own tokens for other callers.
 *
 * @throws DomainError not-found
 */
export async function getTokenFor(database: Database, { user }: Caller, id: number) {
  const token = await store.findToken(database, id)
  if (!token || (!user.admin && token.userId !== user.id)) throw notFound()
  return token
}

/**
 * Issues a token to a user. A token that is bound to tenants can only create tokens that are bound to the
 * same tenants, or to some of them.
 *
 * @throws DomainError not-found for the user; forbidden for further tenants; invalid when its last day has
 *   passed
 */
export async function issuePersonalToken(
  database: Database,
  administrator: Caller,
  given: Omit<NewToken, 'tokenHash'>,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (!(await findUser(database, given.userId))) throw notFound('User')
  const bound = given.tenants ?? boundTenantsOf(administrator)
  requireTenants(administrator, bound)
  return issueRecorded(database, given, { bound, latestDay: null }, author)
}

/**
 * Issues a token to the user of a session. The token has at most the rights of the session, and lives no
 * longer than the settings and the session's own token allow.
 *
 * @throws DomainError forbidden where users make no tokens, without a session, and for a project token;
 *   insufficient-scope; invalid for a last day that has passed or is too late
 */
export async function issueOwnToken(
  { database, ownTokenDaysMax }: TokenDependencies,
  caller: Caller,
  given: Omit<NewToken, 'tokenHash' | 'userId' | 'tenants'>,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (ownTokenDaysMax === undefined) throw forbidden('Only administrators make tokens here')
  if (!caller.session) throw forbidden('Tokens are made in a browser: sign in to the console')
  if (typeof caller.token.projectId === 'number') throw forbidden('A project token makes no token of a user')
  if (!includesScopes(caller.token.scopes, given.scopes)) throw insufficientScope(given.scopes)
  const { expiresAt: lastDay } = await getOwnToken(database, caller)
  const allowed = new Date(startOfDay(new Date()).getTime() + ownTokenDaysMax * dayMs)
  const latestDay = earlierDay(allowed, lastDay)
  const token = { ...given, userId: caller.user.id, expiresAt: given.expiresAt ?? latestDay }
  return issueRecorded(database, token, { bound: boundTenantsOf(caller), latestDay }, author)
}

function issueRecorded(
  database: Database,
  given: Omit<NewToken, 'tokenHash'>,
  { bound, latestDay }: { bound: BoundTenants; latestDay: Date | null },
  author: AuditAuthor,
): Promise<IssuedToken> {
  const token = { ...given, tenants: bound ?? [] }
  return inTransaction(database, async (transaction) => {
    const issued = await issueToken(transaction, token, latestDay)
    await recordUserEvent(transaction, author, token.userId, 'personal_access_token_created', {
      name: token.name,
      scopes: [...token.scopes],
      ...(bound && { tenants: [...bound] }),
    })
    return issued
  })
}

/**
 * @throws DomainError forbidden when the caller's token may access fewer tenants than a token that is bound
 *   to the wanted tenants
 */
export function requireTenants(caller: Caller, wanted: BoundTenants): void {
  const held = boundTenantsOf(caller)
  if (!includesTenants(held, wanted))
    throw forbidden(`this token is bound to ${held?.join(', ')}, and makes no token for other tenants`)
}

/**
 * Revokes a token that `getTokenFor` finds; does nothing for a revoked token.
 *
 * @throws DomainError not-found
 */
export async function revokeTokenFor(
  deps: TokenDependencies,
  caller: Caller,
  id: number,
  author: AuditAuthor,
) {
  const token = await getTokenFor(deps.database, caller, id)
  await revoke(deps, token, author)
}

/** Revokes a token of the project and removes its bot from the members. @throws DomainError not-found */
export async function revokeProjectToken(
  deps: TokenDependencies,
  projectId: number,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  const token = await store.findToken(deps.database, id)
  if (token?.projectId !== projectId || !(await revoke(deps, token, author))) throw notFound()
}

/**
 * Revokes a token. This process refuses it from now on, other processes within half a second.
 *
 * @returns false when the token was revoked before
 */
async function revoke(
  { database, forgetUsers }: TokenDependencies,
  { id, userId, projectId, name }: PersonalAccessToken,
  author: AuditAuthor,
): Promise<boolean> {
  const isRevoked = await inTransaction(database, async (transaction) => {
    if (!(await store.revokeToken(transaction, id))) return false
    if (projectId !== null) await deleteMember(transaction, { projectId, userId })
    await recordAuditEvent(transaction, author, {
      ...(projectId === null
        ? { eventName: 'access_token_revoked', entityType: 'User', entityId: userId }
        : { eventName: 'project_access_token_revoked', entityType: 'Project', entityId: projectId }),
      details: { name, revoked_token_id: id },
    })
    return true
  })
  forgetUsers([userId])
  return isRevoked
}

/**
 * Returns the user who counts as the creator of a new project token, and the latest day that the token may
 * have.
 *
 * @throws DomainError forbidden for a CI job, which ends soon and leaves no token behind
 */
export async function makerOf(database: DatabaseOrTransaction, { user, token }: Caller) {
  if (token.job) throw forbidden('A CI job makes no tokens and trusts no issuers')
  if (typeof token.projectId !== 'number') return { createdBy: user.id, latestDay: null }
  const own = await store.findToken(database, token.id)
  if (!own) throw unauthenticated()
  return { createdBy: own.createdBy, latestDay: own.expiresAt }
}

/**
 * Creates the user as which the holder of a project token, or a CI job, acts.
 *
 * @param membership null: the bot acts outside of projects
 */
export async function createBot(
  transaction: PrismaTransaction,
  name: string,
  membership: { projectId: number; accessLevel: number } | null,
) {
  const group = membership ? `project_${membership.projectId}` : 'installation'
  const username = `${group}_bot_${randomBytes(8).toString('hex')}`
  // The domain `.invalid` is reserved: no mail is ever delivered there.
  const email = `${username}@noreply.switchyard.invalid`
  const bot = await createUser(transaction, { username, email, name, admin: false, bot: true })
  if (membership) await createMember(transaction, { ...membership, userId: bot.id })
  return bot
}
