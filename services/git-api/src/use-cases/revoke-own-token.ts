import { type AuditAuthor, inTransaction, recordAuditEvent, revokeToken } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'

/** Revokes the token that the request came with: it is refused everywhere within a second. */
export async function revokeOwnToken(
  { database }: Pick<Dependencies, 'database'>,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    if (!(await revokeToken(transaction, author.tokenId))) return
    await recordAuditEvent(transaction, author, {
      eventName: 'access_token_revoked',
      entityType: 'User',
      entityId: author.authorId,
      details: {},
    })
  })
}
