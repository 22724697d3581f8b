import type { DatabaseOrTransaction, PrismaTransaction, ProtectedTag } from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import { lowestLevel } from '@switchyard/domain/access'

export interface NewProtectedTag {
  projectId: number
  name: string
  /** Access levels that may create the tag. When 0 is among them, nobody may. */
  createLevels: number[]
}

/**
 * Returns the number of tag protections of a project. Locks the project until the transaction ends, so that
 * two transactions cannot add protections at the same time.
 */
export async function lockAndCountProtectedTags(
  transaction: PrismaTransaction,
  projectId: number,
): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.protectedTag.count({ where: { projectId } })
}

/**
 * Adds a protection. Fails with a unique violation when the name is protected already; see
 * `violatedUniqueIndex`.
 */
export const createProtectedTag = (
  { prisma }: DatabaseOrTransaction,
  { projectId, name, createLevels }: NewProtectedTag,
): Promise<ProtectedTag> =>
  prisma.protectedTag.create({
    data: {
      projectId,
      name,
      createAccessLevel: lowestLevel(createLevels),
      createAccessLevels: createLevels.length > 0 ? createLevels : [0],
    },
  })

/** @param name the tag name or pattern exactly as it was protected */
export const findProtectedTag = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<ProtectedTag | null> =>
  prisma.protectedTag.findUnique({ where: { projectId_name: { projectId, name } } })

/** @returns whether the name was protected */
export async function deleteProtectedTag(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<boolean> {
  const { count } = await prisma.protectedTag.deleteMany({ where: { projectId, name } })
  return count > 0
}

/** Lists all tag protections of a project by name. */
export const listProtectedTags = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<ProtectedTag[]> => prisma.protectedTag.findMany({ where: { projectId }, orderBy: { name: 'asc' } })
