import {
  type AuditAuthor,
  findToken,
  findUser,
  inTransaction,
  listTokens as listStoredTokens,
  type NewToken,
  type PersonalAccessToken,
  recordAuditEvent,
  type TokenFilter,
  type TokenOrder,
} from '@switchyard/db'
import { forbidden, notFound, unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import { type IssuedToken, issueToken } from './issue-token.js'

/**
 * Tokens of all users, for administrators; the caller's own tokens, for other callers.
 *
 * @throws DomainError forbidden for another user's tokens; not-found for an unknown user
 */
export async function listTokens(
  { database }: Dependencies,
  { user }: Caller,
  given: TokenFilter,
  order: TokenOrder,
  rows: { skip: number; take: number },
) {
  if (!user.admin && (given.userId ?? user.id) !== user.id) throw forbidden()
  const filter = { ...given, userId: user.admin ? given.userId : user.id }
  if (filter.userId !== undefined && !(await findUser(database, filter.userId))) throw notFound('User')
  return listStoredTokens(database, filter, order, rows)
}

/** The token of the request. @throws DomainError unauthenticated when it was removed meanwhile */
export async function getOwnToken({ database }: Dependencies, caller: Caller): Promise<PersonalAccessToken> {
  const token = await findToken(database, caller.token.id)
  if (!token) throw unauthenticated()
  return token
}

/**
 * Any token, for administrators; one of the caller's own tokens, for other callers.
 *
 * @throws DomainError not-found
 */
export async function getTokenFor(
  { database }: Pick<Dependencies, 'database'>,
  { user }: Caller,
  id: number,
): Promise<PersonalAccessToken> {
  const token = await findToken(database, id)
  if (!token || (!user.admin && token.userId !== user.id)) throw notFound()
  return token
}

/** Issues a token to a user. @throws DomainError not-found for the user; invalid when its last day has passed */
export async function issuePersonalToken(
  { database }: Dependencies,
  token: Omit<NewToken, 'tokenHash'>,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (!(await findUser(database, token.userId))) throw notFound('User')
  return inTransaction(database, async (transaction) => {
    const issued = await issueToken(transaction, token, null)
    await recordAuditEvent(transaction, author, {
      eventName: 'personal_access_token_created',
      entityType: 'User',
      entityId: token.userId,
      details: { name: token.name, scopes: [...token.scopes] },
    })
    return issued
  })
}
