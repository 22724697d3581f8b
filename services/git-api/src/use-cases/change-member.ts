import {
  type AuditAuthor,
  findMember,
  inTransaction,
  type MemberWithUser,
  recordAuditEvent,
  updateMember,
} from '@switchyard/db'
import { forbidden, notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/**
 * Gives a member another access level.
 *
 * @throws DomainError not-found; forbidden for the project's owner, for a level above one's own and for members above it
 */
export async function changeMember(
  { database, guards }: Pick<Dependencies, 'database' | 'guards'>,
  { project, level }: ProjectCall,
  { userId, accessLevel }: { userId: number; accessLevel: number },
  author: AuditAuthor,
): Promise<MemberWithUser> {
  if (accessLevel > level) throw forbidden()
  const before = await findMember(database, project.id, userId)
  if (!before) throw notFound()
  if (userId === project.ownerId) throw forbidden('A project cannot lose its owner')
  const changed = await inTransaction(database, async (transaction) => {
    const change = { projectId: project.id, userId, levelMax: level }
    const member = await updateMember(transaction, change, accessLevel)
    if (!member) throw forbidden()
    await recordAuditEvent(transaction, author, {
      eventName: 'member_changed',
      entityType: 'Project',
      entityId: project.id,
      details: { user_id: userId, access_level: accessLevel, access_level_before: before.accessLevel },
    })
    return member
  })
  guards.noteChange(project.id)
  return changed
}
