import {
  createProtectedBranch,
  type NewProtectedBranch,
  type ProtectedBranch,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, invalid } from '@switchyard/domain'
import { isRefName } from '@switchyard/domain/commit'
import type { Dependencies } from '../dependencies.js'

/** @throws DomainError invalid for a name no branch can have; conflict when it is protected already */
export async function protectBranch(
  { database }: Dependencies,
  branch: NewProtectedBranch,
): Promise<ProtectedBranch> {
  if (!isRefName(branch.name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid branch name'] })
  try {
    return await createProtectedBranch(database, branch)
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict(`Protected branch '${branch.name}' already exists`, { cause: error })
  }
}
