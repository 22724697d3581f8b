import type { Database, Rows, User } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { findUserByUsername } from '../access/users/store.js'
import { findUserNamed } from '../access/users/users.js'
import { findFreeUsername, listNamespaceOwners } from './store.js'

/**
 * Lists the users whose namespaces the caller may see: all users for administrators, otherwise only the
 * caller.
 */
export const listNamespaces = (
  database: Database,
  { user }: Caller,
  search: string | undefined,
  rows: Rows,
) => listNamespaceOwners(database, { viewer: user, search }, rows)

/**
 * Returns the user with a namespace.
 *
 * @param reference id or username
 * @throws DomainError not-found, also for a namespace that the caller may not see
 */
export async function getNamespace(database: Database, { user }: Caller, reference: string): Promise<User> {
  const owner = await findUserNamed(database, reference)
  if (!owner || owner.bot || !(user.admin || user.id === owner.id)) throw notFound('Namespace')
  return owner
}

/** Returns whether a name is taken, and a similar free name. */
export async function checkNamespace(
  database: Database,
  path: string,
): Promise<{ exists: boolean; suggests: string[] }> {
  if (!(await findUserByUsername(database, path))) return { exists: false, suggests: [] }
  const free = await findFreeUsername(database, path)
  return { exists: true, suggests: free === null ? [] : [free] }
}
