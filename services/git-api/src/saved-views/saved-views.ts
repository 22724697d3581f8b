import { type Database, inTransaction, onTaken, requireUnchanged, type SavedView } from '@switchyard/db'
import { conflict, invalid, notFound, type Precondition } from '@switchyard/domain'
import {
  countSavedViews,
  createSavedView,
  deleteSavedView,
  findSavedView,
  type SavedViewFields,
  updateSavedView,
} from './store.js'

export { listSavedViews } from './store.js'

const viewsMax = 50

const refuseTaken = onTaken((cause) => conflict('Name has already been taken', { cause }))

const missing = () => notFound('Saved View')

/** @throws DomainError invalid when the user has too many views | conflict when the name is taken */
export const saveView = (database: Database, userId: number, fields: SavedViewFields): Promise<SavedView> =>
  inTransaction(database, async (transaction) => {
    if ((await countSavedViews(transaction, userId)) >= viewsMax)
      throw invalid(`A user can have ${viewsMax} saved views at most`)
    return createSavedView(transaction, userId, fields)
  }).catch(refuseTaken)

/** @throws DomainError not-found */
export async function getSavedView(database: Database, userId: number, id: number) {
  const view = await findSavedView(database, userId, id)
  if (!view) throw missing()
  return view
}

/** @throws DomainError not-found | precondition-failed | conflict when the name is taken */
export async function changeSavedView(
  database: Database,
  userId: number,
  id: number,
  fields: Partial<SavedViewFields>,
  precondition?: Precondition,
): Promise<SavedView> {
  const view = await inTransaction(database, async (transaction) => {
    await requireUnchanged(transaction, 'saved_views', { user_id: userId, id }, precondition)
    return updateSavedView(transaction, userId, id, fields)
  }).catch(refuseTaken)
  if (!view) throw missing()
  return view
}

/** @throws DomainError not-found | precondition-failed */
export const removeSavedView = (
  database: Database,
  userId: number,
  id: number,
  precondition?: Precondition,
): Promise<void> =>
  inTransaction(database, async (transaction) => {
    await requireUnchanged(transaction, 'saved_views', { user_id: userId, id }, precondition)
    if (!(await deleteSavedView(transaction, userId, id))) throw missing()
  })
