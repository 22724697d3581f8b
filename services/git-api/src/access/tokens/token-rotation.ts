import { type AuditAuthor, inTransaction, type PersonalAccessToken } from '@switchyard/db'
import { forbidden, insufficientScope, invalid, notFound, unauthenticated } from '@switchyard/domain'
import {
  type Caller,
  earlierDay,
  includesScopes,
  lastDayAfterRotation,
  type Scope,
} from '@switchyard/domain/access'
import { recordUserEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import { isTokenOfSignIn } from '../sign-in/store.js'
import { findProjectToken, findToken, revokeToken } from './store.js'
import {
  getTokenFor,
  type IssuedToken,
  issueToken,
  makerOf,
  requireTenants,
  type TokenDependencies,
} from './tokens.js'

/**
 * Replaces the token of the request.
 *
 * @param expiresAt last day of the new one; undefined: it lives as many days as the old one was given
 * @throws DomainError unauthenticated when another request rotated or revoked it first; invalid for a last
 *   day that has passed, or that gives the new token more days than the old one was given
 */
export async function rotateOwnToken(
  deps: TokenDependencies,
  expiresAt: Date | undefined,
  author: AuditAuthor,
): Promise<IssuedToken> {
  const old = await findToken(deps.database, author.tokenId)
  if (!old) throw unauthenticated()
  const latestDay = lastDayAfterRotation(old, new Date())
  return rotate(
    deps,
    old,
    { expiresAt, latestDay, createdBy: creatorOf(old, author), onRevoked: unauthenticated },
    author,
  )
}

/**
 * Replaces a token that the caller may see. Administrators choose any last day, because they create tokens
 * for everybody. For other callers, and for the token of the request itself, the rules of {@link
 * rotateOwnToken} apply, and no token rotates a token with more rights.
 *
 * @throws DomainError not-found; insufficient-scope; forbidden for a token of further tenants; invalid when
 *   it is revoked, and for the last day
 */
export async function rotateTokenFor(
  deps: TokenDependencies,
  caller: Caller,
  { id, expiresAt }: { id: number; expiresAt: Date | undefined },
  author: AuditAuthor,
): Promise<IssuedToken> {
  const old = await getTokenFor(deps.database, caller, id)
  const isAdministrator = caller.user.admin
  const wanted = old.scopes as Scope[]
  if (!isAdministrator && !includesScopes(caller.token.scopes, wanted)) throw insufficientScope(wanted)
  requireTenants(caller, old.tenants.length > 0 ? old.tenants : null)
  const isBounded = !isAdministrator || old.id === caller.token.id
  const latestDay = isBounded ? lastDayAfterRotation(old, new Date()) : null
  return rotate(deps, old, { expiresAt, latestDay, createdBy: creatorOf(old, author), onRevoked }, author)
}

/**
 * Replaces a token of the project. Maintainers choose any last day; a project token that replaces another
 * token gives it no day after its own last day. For the token of the request itself, the rules of {@link
 * rotateOwnToken} apply.
 *
 * @returns the new token, and its role in the project
 * @throws DomainError not-found; forbidden for a token with a role above the caller's; invalid when it is
 *   revoked, and for the last day
 */
export async function rotateProjectToken(
  deps: TokenDependencies,
  { project, level, caller }: ProjectCall<Caller>,
  { id, expiresAt }: { id: number; expiresAt: Date | undefined },
  author: AuditAuthor,
): Promise<{ issued: IssuedToken; accessLevel: number }> {
  const old = await findProjectToken(deps.database, project.id, id)
  if (!old) throw notFound()
  const { accessLevel, ...token } = old
  // A bot leaves the project when its token is revoked.
  if (accessLevel === null) throw onRevoked()
  if (accessLevel > level) throw forbidden()
  if (id === caller.token.id) return { issued: await rotateOwnToken(deps, expiresAt, author), accessLevel }
  const { createdBy, latestDay } = await makerOf(deps.database, caller)
  const issued = await rotate(deps, token, { expiresAt, latestDay, createdBy, onRevoked }, author)
  return { issued, accessLevel }
}

const onRevoked = () => invalid('400 Bad request - Token already revoked')

interface Rotation {
  /** Undefined: as many days as the old token had, if the new one may have them. */
  expiresAt: Date | undefined
  /** The latest day that the new token may have; null: there is no limit. */
  latestDay: Date | null
  /** The creator of the new token, for a project token; null: unknown. */
  createdBy: number | null
  /** Makes the error that is thrown when the old token is revoked. */
  onRevoked: () => Error
}

/** Revokes the old token and creates one with the same name, description, scopes, tenants and project. */
async function rotate(
  { database, forgetUsers }: TokenDependencies,
  old: PersonalAccessToken,
  { expiresAt, latestDay, createdBy, onRevoked }: Rotation,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (old.job !== null) throw forbidden('The token of a CI job is not replaced')
  const rotated = await inTransaction(database, async (transaction) => {
    if (await isTokenOfSignIn(transaction, old.id))
      throw forbidden('The token of a single sign-on has no secret to replace')
    if (!(await revokeToken(transaction, old.id))) throw onRevoked()
    const token = {
      userId: old.userId,
      name: old.name,
      description: old.description,
      scopes: old.scopes as Scope[],
      tenants: old.tenants,
      expiresAt: expiresAt ?? earlierDay(lastDayAfterRotation(old, new Date()), latestDay),
      ...(old.projectId === null ? {} : { project: { projectId: old.projectId, createdBy } }),
    }
    const issued = await issueToken(transaction, token, latestDay)
    await recordUserEvent(transaction, author, old.userId, 'access_token_rotated', {
      name: old.name,
      revoked_token_id: old.id,
      new_token_id: issued.token.id,
    })
    return issued
  })
  forgetUsers([old.userId])
  return rotated
}

/**
 * Returns the creator of the new token: a project token that rotates itself keeps its creator. Otherwise, the
 * creator is the user who rotates it and receives its secret.
 */
const creatorOf = ({ createdBy, userId }: PersonalAccessToken, { authorId }: AuditAuthor) =>
  authorId === userId ? createdBy : authorId
