import type { DatabaseOrTransaction } from '../client.js'
import type { ProtectedBranch } from '../generated/client.js'
import { lockProjectRow } from './lock-project-row.js'

export type NewProtectedBranch = Pick<
  ProtectedBranch,
  'projectId' | 'name' | 'pushAccessLevel' | 'allowForcePush'
>

/**
 * The number of protections of a project. Locks the project until the transaction ends, so that two transactions cannot add
 * protections at the same time.
 */
export async function countProtectedBranches(
  transaction: DatabaseOrTransaction,
  projectId: number,
): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.protectedBranch.count({ where: { projectId } })
}

/** Fails with a unique violation when the name is protected already; see `violatedUniqueIndex`. */
export const createProtectedBranch = (
  { prisma }: DatabaseOrTransaction,
  branch: NewProtectedBranch,
): Promise<ProtectedBranch> => prisma.protectedBranch.create({ data: branch })

/** @param name the branch name or pattern exactly as it was protected */
export const findProtectedBranch = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<ProtectedBranch | null> =>
  prisma.protectedBranch.findUnique({ where: { projectId_name: { projectId, name } } })

/** @returns whether the name was protected */
export async function deleteProtectedBranch(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<boolean> {
  const { count } = await prisma.protectedBranch.deleteMany({ where: { projectId, name } })
  return count > 0
}

/** Every protection of a project, ordered by name. */
export const listProtectedBranches = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<ProtectedBranch[]> =>
  prisma.protectedBranch.findMany({ where: { projectId }, orderBy: { name: 'asc' } })
