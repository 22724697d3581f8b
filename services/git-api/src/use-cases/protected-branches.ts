import {
  type AuditAuthor,
  countProtectedBranches,
  createProtectedBranch,
  deleteProtectedBranch,
  findProtectedBranch,
  inTransaction,
  listProtectedBranches as listStoredBranches,
  type NewProtectedBranch,
  type ProtectedBranch,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, excerpt, invalid, notFound } from '@switchyard/domain'
import { protectionNameLengthMax, protectionsPerProjectMax } from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import type { Dependencies, Rows } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { recordProjectEvent } from './audit.js'

/** @param search part of the name or pattern; empty: all */
export async function listProtectedBranches(
  { database }: Dependencies,
  { project }: ProjectCall,
  search: string,
  { skip, take }: Rows,
): Promise<{ branches: ProtectedBranch[]; total: number }> {
  const found = (await listStoredBranches(database, project.id)).filter(({ name }) => name.includes(search))
  return { branches: found.slice(skip, skip + take), total: found.length }
}

/** @throws DomainError not-found */
export async function getProtectedBranch({ database }: Dependencies, { project }: ProjectCall, name: string) {
  const branch = await findProtectedBranch(database, project.id, name)
  if (!branch) throw notFound()
  return branch
}

/**
 * Protects a branch, or every branch that a pattern matches.
 *
 * @throws DomainError invalid for a name that no branch can have or that is too long, and when the project has as many
 *   protections as are allowed; conflict when the name is protected already
 */
export async function protectBranch(
  { database }: Dependencies,
  { project }: ProjectCall,
  given: Omit<NewProtectedBranch, 'projectId'>,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  const { name, pushAccessLevel, allowForcePush } = given
  if (name.length > protectionNameLengthMax) {
    throw invalid({ name: [`is too long (maximum is ${protectionNameLengthMax} characters)`] })
  }
  if (!isRefName(name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid branch name'] })
  try {
    return await inTransaction(database, async (transaction) => {
      if ((await countProtectedBranches(transaction, project.id)) >= protectionsPerProjectMax) {
        throw invalid(`A project can have ${protectionsPerProjectMax} protected branches at most`)
      }
      const protectedBranch = await createProtectedBranch(transaction, { ...given, projectId: project.id })
      await recordProjectEvent(transaction, author, project.id, 'protected_branch_created', {
        name,
        push_access_level: pushAccessLevel,
        allow_force_push: allowForcePush,
      })
      return protectedBranch
    })
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict(`Protected branch '${excerpt(name)}' already exists`, { cause: error })
  }
}

/** Lifts the protection; the branch itself stays. @throws DomainError not-found */
export async function unprotectBranch(
  { database }: Dependencies,
  { project }: ProjectCall,
  name: string,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    if (!(await deleteProtectedBranch(transaction, project.id, name))) throw notFound()
    await recordProjectEvent(transaction, author, project.id, 'protected_branch_removed', { name })
  })
}
