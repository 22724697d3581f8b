import {
  type AuditAuthor,
  findToken,
  inTransaction,
  type PersonalAccessToken,
  revokeToken,
} from '@switchyard/db'
import { insufficientScope, invalid, unauthenticated } from '@switchyard/domain'
import { type Caller, includesScopes, lastDayAfterRotation, type Scope } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import { recordUserEvent } from './audit.js'
import { type IssuedToken, issueToken } from './issue-token.js'
import { getTokenFor } from './tokens.js'

/**
 * Replaces the token that the request came with.
 *
 * @param expiresAt last day of the new one; undefined: it lives as many days as the old one was given
 * @throws DomainError unauthenticated when another request rotated or revoked it first; invalid for a last day that
 *   has passed, or that gives the new token more days than the old one was given
 */
export async function rotateOwnToken(
  deps: Dependencies,
  expiresAt: Date | undefined,
  author: AuditAuthor,
): Promise<IssuedToken> {
  const old = await findToken(deps.database, author.tokenId)
  if (!old) throw unauthenticated()
  return rotate(deps, old, { expiresAt, isBounded: true, onRevoked: unauthenticated }, author)
}

/**
 * Replaces a token that the caller may know of. Administrators, who make tokens for everybody, choose any last day. For
 * everybody else, and for the token of the request itself, the rules are those of {@link rotateOwnToken}, and no token
 * rotates one that may do more than itself.
 *
 * @throws DomainError not-found; insufficient-scope; invalid when it is revoked, and for the last day
 */
export async function rotateTokenFor(
  deps: Dependencies,
  caller: Caller,
  { id, expiresAt }: { id: number; expiresAt: Date | undefined },
  author: AuditAuthor,
): Promise<IssuedToken> {
  const old = await getTokenFor(deps, caller, id)
  const isAdministrator = caller.user.admin
  const wanted = old.scopes as Scope[]
  if (!isAdministrator && !includesScopes(caller.token.scopes, wanted)) throw insufficientScope(wanted)
  const isBounded = !isAdministrator || old.id === caller.token.id
  return rotate(deps, old, { expiresAt, isBounded, onRevoked }, author)
}

const onRevoked = () => invalid('400 Bad request - Token already revoked')

interface Rotation {
  expiresAt: Date | undefined
  /** The new token gets no more days than the old one was given. */
  isBounded: boolean
  /** What is thrown when the old token is revoked. */
  onRevoked: () => Error
}

/** The old token stops working; the new one has its name, scopes and project. */
async function rotate(
  { database, forgetUsers }: Dependencies,
  old: PersonalAccessToken,
  { expiresAt, isBounded, onRevoked }: Rotation,
  author: AuditAuthor,
): Promise<IssuedToken> {
  const sameSpan = lastDayAfterRotation(old, new Date())
  const rotated = await inTransaction(database, async (transaction) => {
    if (!(await revokeToken(transaction, old.id))) throw onRevoked()
    const token = {
      userId: old.userId,
      name: old.name,
      scopes: old.scopes as Scope[],
      expiresAt: expiresAt ?? sameSpan,
      ...(old.projectId === null
        ? {}
        : { project: { projectId: old.projectId, createdBy: creatorOf(old, author) } }),
    }
    const issued = await issueToken(transaction, token, isBounded ? sameSpan : null)
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

/** A project token that rotates itself still depends on the user who made it, else on the user who learns its secret. */
const creatorOf = ({ createdBy, userId }: PersonalAccessToken, { authorId }: AuditAuthor) =>
  authorId === userId ? createdBy : authorId
