import { type AuditAuthor, deleteProtectedBranch, inTransaction, recordAuditEvent } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/** Takes the protection away; the branch itself stays. @throws DomainError not-found */
export async function unprotectBranch(
  { database }: Pick<Dependencies, 'database'>,
  { project }: ProjectCall,
  name: string,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    if (!(await deleteProtectedBranch(transaction, project.id, name))) throw notFound()
    await recordAuditEvent(transaction, author, {
      eventName: 'protected_branch_removed',
      entityType: 'Project',
      entityId: project.id,
      details: { name },
    })
  })
}
