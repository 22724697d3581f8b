import {
  type AuditAuthor,
  deleteMember,
  findToken,
  inTransaction,
  recordAuditEvent,
  revokeToken,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/** Revokes a token of the project; its bot is no member any more. @throws DomainError not-found */
export async function revokeProjectToken(
  { database }: Pick<Dependencies, 'database'>,
  { project }: ProjectCall,
  tokenId: number,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const token = await findToken(transaction, tokenId)
    if (token?.projectId !== project.id || !(await revokeToken(transaction, tokenId))) throw notFound()
    await deleteMember(transaction, project.id, token.userId)
    await recordAuditEvent(transaction, author, {
      eventName: 'project_access_token_revoked',
      entityType: 'Project',
      entityId: project.id,
      details: { name: token.name },
    })
  })
}
