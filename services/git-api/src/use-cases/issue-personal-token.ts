import { type AuditAuthor, findUser, inTransaction, type NewToken, recordAuditEvent } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import { type IssuedToken, issueToken } from './issue-token.js'

/** Issues a token to a user. @throws DomainError not-found for the user; invalid when its last day has passed */
export async function issuePersonalToken(
  { database }: Pick<Dependencies, 'database'>,
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
