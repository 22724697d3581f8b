import type { DatabaseOrTransaction, Prisma, PrismaTransaction, Project, Rows, User } from '@switchyard/db'
import { likeText, lockRow, lockUserRow } from '@switchyard/db/sql'

export interface NewUser {
  username: string
  name: string
  email: string
  admin: boolean
  /** Whether the user is the bot of a project token. Unset: false. */
  bot?: boolean
  /** Fields of GitLab by name; null: the default value. */
  profile?: Record<string, string | number | boolean | null> | undefined
}

/** Returns the key by which names and addresses are compared. It ignores case. */
const keyOf = (text: string) => text.toLowerCase()

/** Fails with a unique violation when the username or e-mail is taken; see `violatedUniqueIndex`. */
export const createUser = ({ prisma }: DatabaseOrTransaction, user: NewUser): Promise<User> =>
  prisma.user.create({
    data: {
      ...user,
      profile: withoutNulls(user.profile ?? {}),
      usernameKey: keyOf(user.username),
      emailKey: keyOf(user.email),
    },
  })

const withoutNulls = (profile: NonNullable<NewUser['profile']>): Prisma.InputJsonObject =>
  Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null))

export const findUser = ({ prisma }: DatabaseOrTransaction, id: number): Promise<User | null> =>
  prisma.user.findUnique({ where: { id } })

/** Finds a user by name; case does not matter. */
export const findUserByUsername = (
  { prisma }: DatabaseOrTransaction,
  username: string,
): Promise<User | null> => prisma.user.findUnique({ where: { usernameKey: keyOf(username) } })

export type UserState = 'active' | 'blocked'

export type UserChanges = Partial<Pick<NewUser, 'username' | 'name' | 'email' | 'admin' | 'profile'>> & {
  state?: UserState
}

/**
 * Changes a user. A given profile replaces the whole profile. A new username also changes the paths of the
 * user's projects. Fails with a unique violation when the username or e-mail is taken; see
 * `violatedUniqueIndex`.
 */
export async function updateUser(
  transaction: PrismaTransaction,
  id: number,
  { username, email, profile, ...changes }: UserChanges,
): Promise<User> {
  const { prisma } = transaction
  if (username !== undefined) {
    // The user is locked before the projects, as in a change of a project's path, so that no project is added
    // meanwhile. The username changes last, because from then on no row that refers to the user can be added,
    // and a transaction that waits for that may have locked a project.
    await lockUserRow(transaction, id)
    // Sign-ins with groups add members to several projects, in this order.
    await prisma.$queryRaw`SELECT FROM projects WHERE owner_id = ${id} ORDER BY id FOR UPDATE`
    await prisma.$executeRaw`UPDATE projects SET path_with_namespace = ${username}::text || '/' || path,
      path_key = lower(${username}::text || '/' || path) WHERE owner_id = ${id}`
  }
  return prisma.user.update({
    where: { id },
    data: {
      ...changes,
      ...(username === undefined ? {} : { username, usernameKey: keyOf(username) }),
      ...(profile && { profile: withoutNulls(profile) }),
      ...(email === undefined ? {} : { email, emailKey: keyOf(email) }),
      updatedAt: new Date(),
    },
  })
}

/**
 * Returns the ids of the administrators who are not blocked, and locks their rows until the transaction ends,
 * so that two administrators cannot block each other at the same time. Rows that refer to them can still be
 * added.
 */
export async function lockActiveAdministrators({ prisma }: PrismaTransaction): Promise<number[]> {
  const rows = await prisma.$queryRaw<{ id: number }[]>`SELECT id FROM users
    WHERE admin AND state = 'active' ORDER BY id FOR NO KEY UPDATE`
  return rows.map(({ id }) => id)
}

export interface UserFilter {
  /** The exact username; case does not matter. */
  username?: string | undefined
  /** Part of the name or username, or the whole e-mail address; case does not matter. */
  search?: string | undefined
  state?: UserState | undefined
  admin?: boolean | undefined
  /** Whether the user is the bot of a project token. */
  bot?: boolean | undefined
  /** Only users who own no project. */
  withoutProjects?: boolean | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
}

export interface UserOrder {
  column: 'id' | 'name' | 'username' | 'createdAt'
  direction: 'asc' | 'desc'
}

/** Returns one page of the users, and the number of all users that match. */
export async function listUsers(
  { prisma }: DatabaseOrTransaction,
  filter: UserFilter,
  { column, direction }: UserOrder,
  rows: Rows,
): Promise<{ users: User[]; total: number }> {
  const where = whereOf(filter)
  const [users, total] = await Promise.all([
    prisma.user.findMany({ where, orderBy: [{ [column]: direction }, { id: direction }], ...rows }),
    prisma.user.count({ where }),
  ])
  return { users, total }
}

function whereOf({ username, search, withoutProjects, ...filter }: UserFilter): Prisma.UserWhereInput {
  const { state, admin, bot, createdAfter, createdBefore } = filter
  return {
    state,
    admin,
    bot,
    createdAt: { gte: createdAfter, lte: createdBefore },
    ...(withoutProjects ? { projects: { none: {} } } : {}),
    ...(username === undefined ? {} : { usernameKey: keyOf(username) }),
    ...(search
      ? {
          OR: [
            { usernameKey: { contains: likeText(keyOf(search)) } },
            { name: { contains: likeText(search), mode: 'insensitive' } },
            { emailKey: keyOf(search) },
          ],
        }
      : {}),
  }
}

/**
 * Locks a user until the transaction ends, so that the user gets no project meanwhile.
 *
 * @returns null when there is no such user
 */
export async function lockUserForRemoval(transaction: PrismaTransaction, id: number): Promise<User | null> {
  await lockRow(transaction, 'users', { id }, 'UPDATE')
  return transaction.prisma.user.findUnique({ where: { id } })
}

/** Lists the projects that a user owns, oldest first. */
export const listProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<Project[]> =>
  prisma.project.findMany({ where: { ownerId }, orderBy: { id: 'asc' } })

export const countProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<number> =>
  prisma.project.count({ where: { ownerId } })

/**
 * Deletes a user without projects, with the user's tokens, sessions, memberships, saved views, locks and
 * identities. Rows of projects stay without an author. The project and deploy tokens that the user created,
 * and the rules that trust CI jobs, are deleted because the user may have given their secrets to others.
 *
 * @param bots bots of the user's project tokens and rules
 */
export async function deleteUser(
  { prisma }: DatabaseOrTransaction,
  id: number,
  bots: readonly number[],
): Promise<void> {
  await prisma.trustedIssuer.deleteMany({ where: { createdBy: id } })
  await prisma.deployToken.deleteMany({ where: { createdBy: id } })
  await prisma.personalAccessToken.updateMany({
    where: { userId: { in: [...bots] }, revokedAt: null },
    data: { revokedAt: new Date() },
  })
  await prisma.user.delete({ where: { id } })
}

/**
 * Replaces the name of a user by `deleted user` and the id in the audit log and in sagas, and deletes the
 * addresses and the subjects at providers.
 *
 * @param username the last one; null: the user is gone already
 * @returns whether the audit log knew the user by name
 */
export async function eraseUserNames(
  { prisma }: DatabaseOrTransaction,
  id: number,
  username: string | null,
): Promise<boolean> {
  const rows = await prisma.$queryRaw<{ changed: bigint; usernames: string[] }[]>`
    SELECT changed, usernames FROM erase_user_from_audit_log(${id}::int, ${username}::text)`
  const { changed = 0n, usernames = [] } = rows[0] ?? {}
  await prisma.$queryRaw`SELECT erase_user_from_sagas(${id}::int, ${usernames}::text[])::text`
  return changed > 0n
}
