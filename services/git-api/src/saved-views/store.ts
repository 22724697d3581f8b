import type { DatabaseOrTransaction, PrismaTransaction, SavedView } from '@switchyard/db'
import { lockUserRow } from '@switchyard/db/sql'

export type SavedViewFields = Pick<SavedView, 'page' | 'name' | 'query'>

/**
 * Returns the number of a user's views. Locks the user until the transaction ends, so that two transactions
 * cannot add views at the same time.
 */
export async function countSavedViews(transaction: PrismaTransaction, userId: number): Promise<number> {
  await lockUserRow(transaction, userId)
  return transaction.prisma.savedView.count({ where: { userId } })
}

/**
 * Adds a view. Fails with a unique violation when the user has a view of this name and page; see
 * `violatedUniqueIndex`.
 */
export const createSavedView = (
  { prisma }: DatabaseOrTransaction,
  userId: number,
  fields: SavedViewFields,
): Promise<SavedView> => prisma.savedView.create({ data: { ...fields, userId } })

export const findSavedView = (
  { prisma }: DatabaseOrTransaction,
  userId: number,
  id: number,
): Promise<SavedView | null> => prisma.savedView.findUnique({ where: { userId_id: { userId, id } } })

/** Lists the views of a user by name. */
export const listSavedViews = (
  { prisma }: DatabaseOrTransaction,
  userId: number,
  page: string | undefined,
): Promise<SavedView[]> =>
  prisma.savedView.findMany({
    where: { userId, ...(page !== undefined && { page }) },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })

/**
 * Changes a view; null when the user has no such view. Fails with a unique violation when the user has
 * another view of this name and page; see `violatedUniqueIndex`.
 */
export async function updateSavedView(
  { prisma }: DatabaseOrTransaction,
  userId: number,
  id: number,
  fields: Partial<SavedViewFields>,
): Promise<SavedView | null> {
  const [view] = await prisma.savedView.updateManyAndReturn({
    where: { userId, id },
    data: { ...fields, updatedAt: new Date() },
  })
  return view ?? null
}

/** @returns whether the user had the view */
export async function deleteSavedView(
  { prisma }: DatabaseOrTransaction,
  userId: number,
  id: number,
): Promise<boolean> {
  const { count } = await prisma.savedView.deleteMany({ where: { userId, id } })
  return count > 0
}
