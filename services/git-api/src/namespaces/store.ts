import type { DatabaseOrTransaction, Rows, User } from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'

interface NamespaceFilter {
  /** The user who requests the list; administrators see every namespace. */
  viewer: { id: number; admin: boolean }
  /** Part of the username or the name; case does not matter. */
  search?: string | undefined
}

/**
 * Returns one page of the users whose namespaces the viewer may see, and the number of all of them. Users of
 * project tokens are left out because they own no projects.
 */
export async function listNamespaceOwners(
  { prisma }: DatabaseOrTransaction,
  { viewer, search }: NamespaceFilter,
  rows: Rows,
): Promise<{ users: User[]; total: number }> {
  const part = search && { contains: likeText(search), mode: 'insensitive' as const }
  const where = {
    bot: false,
    ...(viewer.admin ? {} : { id: viewer.id }),
    ...(part ? { OR: [{ username: part }, { name: part }] } : {}),
  }
  const [users, total] = await Promise.all([
    prisma.user.findMany({ where, orderBy: { id: 'asc' }, ...rows }),
    prisma.user.count({ where }),
  ])
  return { users, total }
}

/** Returns the first of `name1`, `name2`, … up to `name1000` that no user has; null when all are taken. */
export async function findFreeUsername(
  { prisma }: DatabaseOrTransaction,
  name: string,
): Promise<string | null> {
  const [free] = await prisma.$queryRaw<{ number: number }[]>`
    SELECT number FROM generate_series(1, 1000) AS number
    WHERE NOT EXISTS (SELECT FROM users WHERE username_key = lower(${name}::text) || number)
    ORDER BY number LIMIT 1`
  return free ? `${name}${free.number}` : null
}
