import type { DatabaseOrTransaction, PrismaTransaction, ProtectedBranch } from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import { type BranchLevels, lowestLevel } from '@switchyard/domain/access'

/** The changeable fields of a protected branch. */
export type BranchRules = Pick<ProtectedBranch, 'allowForcePush' | 'codeOwnerApprovalRequired'> & {
  levels: BranchLevels
}

export interface NewProtectedBranch extends BranchRules {
  projectId: number
  name: string
}

/**
 * Returns the columns. An empty list of levels is stored as level 0, because an empty list is a row of an
 * older version.
 */
const columnsOf = ({ levels: { push, merge, unprotect }, ...flags }: BranchRules) => ({
  ...flags,
  pushAccessLevel: lowestLevel(push),
  pushAccessLevels: push.length > 0 ? push : [0],
  mergeAccessLevels: merge.length > 0 ? merge : [0],
  unprotectAccessLevels: unprotect,
})

/**
 * Returns the number of protections of a project. Locks the project until the transaction ends, so that two
 * transactions cannot add protections at the same time.
 */
export async function lockAndCountProtectedBranches(
  transaction: PrismaTransaction,
  projectId: number,
): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.protectedBranch.count({ where: { projectId } })
}

/**
 * Adds a protection. Fails with a unique violation when the name is protected already; see
 * `violatedUniqueIndex`.
 */
export const createProtectedBranch = (
  { prisma }: DatabaseOrTransaction,
  { projectId, name, ...rules }: NewProtectedBranch,
): Promise<ProtectedBranch> =>
  prisma.protectedBranch.create({ data: { projectId, name, ...columnsOf(rules) } })

export const updateProtectedBranch = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id }: ProtectedBranch,
  rules: BranchRules,
): Promise<ProtectedBranch> =>
  prisma.protectedBranch.update({
    where: { projectId_id: { projectId, id } },
    data: { ...columnsOf(rules), updatedAt: new Date() },
  })

/** @param name the branch name or pattern exactly as it was protected */
export const findProtectedBranch = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<ProtectedBranch | null> =>
  prisma.protectedBranch.findUnique({ where: { projectId_name: { projectId, name } } })

/** Returns a protection, and locks the protections of the project until the transaction ends. */
export async function lockProtectedBranch(
  transaction: PrismaTransaction,
  projectId: number,
  name: string,
): Promise<ProtectedBranch | null> {
  await lockProjectRow(transaction, projectId)
  return findProtectedBranch(transaction, projectId, name)
}

/** @returns whether the name was protected */
export async function deleteProtectedBranch(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<boolean> {
  const { count } = await prisma.protectedBranch.deleteMany({ where: { projectId, name } })
  return count > 0
}

/** Lists all protections of a project by name. */
export const listProtectedBranches = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<ProtectedBranch[]> =>
  prisma.protectedBranch.findMany({ where: { projectId }, orderBy: { name: 'asc' } })
