import type { DatabaseOrTransaction, LfsLock, PrismaTransaction } from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'

export type LfsLockWithOwner = LfsLock & { owner: { username: string } }

const include = { owner: { select: { username: true } } } as const

/**
 * Returns the number of locks of a project. Locks the project's row until the transaction ends, so that two
 * transactions cannot add locks at the same time.
 */
export async function lockAndCountLfsLocks(
  transaction: PrismaTransaction,
  projectId: number,
): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.lfsLock.count({ where: { projectId } })
}

/** Adds a lock. Fails with a unique violation when the path is locked; see `violatedUniqueIndex`. */
export const createLfsLock = (
  { prisma }: DatabaseOrTransaction,
  lock: Pick<LfsLock, 'projectId' | 'path' | 'ownerId'>,
): Promise<LfsLockWithOwner> => prisma.lfsLock.create({ data: lock, include })

export interface LfsLockFilter {
  id?: number | undefined
  path?: string | undefined
  /** Only locks with a higher id. */
  after?: number | undefined
}

/** Lists the first `take` locks that match, by id. */
export const listLfsLocks = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  { id, path, after }: LfsLockFilter,
  take: number,
): Promise<LfsLockWithOwner[]> =>
  prisma.lfsLock.findMany({
    where: { projectId, path, id: { equals: id, gt: after } },
    include,
    orderBy: { id: 'asc' },
    take,
  })

/** Lists path and owner's username of each lock that other users hold. */
export async function listLocksOfOthers(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  userId: number,
): Promise<{ path: string; username: string }[]> {
  const where = { projectId, ownerId: { not: userId } }
  const locks = await prisma.lfsLock.findMany({ where, include })
  return locks.map(({ path, owner }) => ({ path, username: owner.username }))
}

/** @returns whether there was such a lock */
export async function deleteLfsLock(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<boolean> {
  const { count } = await prisma.lfsLock.deleteMany({ where: { projectId, id } })
  return count > 0
}
