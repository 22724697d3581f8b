import {
  type AuditAuthor,
  createProtectedBranch,
  inTransaction,
  type NewProtectedBranch,
  type ProtectedBranch,
  recordAuditEvent,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, invalid } from '@switchyard/domain'
import { isRefName } from '@switchyard/domain/commit'
import type { Dependencies } from '../dependencies.js'

/** @throws DomainError invalid for a name no branch can have; conflict when it is protected already */
export async function protectBranch(
  { database }: Dependencies,
  branch: NewProtectedBranch,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  if (!isRefName(branch.name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid branch name'] })
  try {
    return await inTransaction(database, async (transaction) => {
      const protectedBranch = await createProtectedBranch(transaction, branch)
      await recordAuditEvent(transaction, author, {
        eventName: 'protected_branch_created',
        entityType: 'Project',
        entityId: branch.projectId,
        details: {
          name: branch.name,
          push_access_level: branch.pushAccessLevel,
          allow_force_push: branch.allowForcePush,
        },
      })
      return protectedBranch
    })
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict(`Protected branch '${branch.name}' already exists`, { cause: error })
  }
}
