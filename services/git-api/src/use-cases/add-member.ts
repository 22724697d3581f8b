import {
  type AuditAuthor,
  createMember,
  findUser,
  inTransaction,
  type MemberWithUser,
  recordAuditEvent,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, forbidden, notFound } from '@switchyard/domain'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/** @throws DomainError forbidden for a level above one's own; not-found for the user; conflict for a member */
export async function addMember(
  { database }: Dependencies,
  { project, level }: ProjectCall,
  userId: number,
  accessLevel: number,
  author: AuditAuthor,
): Promise<MemberWithUser> {
  if (accessLevel > level) throw forbidden()
  if (!(await findUser(database, userId))) throw notFound('User')
  try {
    return await inTransaction(database, async (transaction) => {
      const member = await createMember(transaction, { projectId: project.id, userId, accessLevel })
      await recordAuditEvent(transaction, author, {
        eventName: 'member_added',
        entityType: 'Project',
        entityId: project.id,
        details: { user_id: userId, access_level: accessLevel },
      })
      return member
    })
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict('Member already exists', { cause: error })
  }
}
