import { type AuditAuthor, deleteMember, findMember, inTransaction, recordAuditEvent } from '@switchyard/db'
import { forbidden, notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/** @throws DomainError not-found; forbidden for the project's owner and for members above one's own level */
export async function removeMember(
  { database, guards }: Pick<Dependencies, 'database' | 'guards'>,
  { project, level }: ProjectCall,
  userId: number,
  author: AuditAuthor,
): Promise<void> {
  const member = await findMember(database, project.id, userId)
  if (!member) throw notFound()
  if (userId === project.ownerId) throw forbidden('A project cannot lose its owner')
  await inTransaction(database, async (transaction) => {
    const removed = await deleteMember(transaction, { projectId: project.id, userId, levelMax: level })
    if (!removed) throw forbidden()
    await recordAuditEvent(transaction, author, {
      eventName: 'member_removed',
      entityType: 'Project',
      entityId: project.id,
      details: { user_id: userId, access_level: member.accessLevel },
    })
  })
  guards.noteChange(project.id)
}
