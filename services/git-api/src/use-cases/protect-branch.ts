import {
  type AuditAuthor,
  countProtectedBranches,
  createProtectedBranch,
  inTransaction,
  type NewProtectedBranch,
  type ProtectedBranch,
  recordAuditEvent,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, invalid } from '@switchyard/domain'
import { protectionNameLengthMax, protectionsPerProjectMax } from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import type { Dependencies } from '../dependencies.js'

/**
 * Protects a branch, or every branch that a pattern matches.
 *
 * @throws DomainError invalid for a name that no branch can have or that is too long, and beyond the most protections of
 *   a project; conflict when the name is protected already
 */
export async function protectBranch(
  { database }: Dependencies,
  branch: NewProtectedBranch,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  if (branch.name.length > protectionNameLengthMax) {
    throw invalid({ name: [`is too long (maximum is ${protectionNameLengthMax} characters)`] })
  }
  if (!isRefName(branch.name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid branch name'] })
  try {
    return await inTransaction(database, async (transaction) => {
      if ((await countProtectedBranches(transaction, branch.projectId)) >= protectionsPerProjectMax) {
        throw invalid(`A project can have ${protectionsPerProjectMax} protected branches at most`)
      }
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
