import type { DatabaseOrTransaction, Prisma, Project, Rows, User } from '@switchyard/db'
import { likeText, lockRow, lockUserRow } from '@switchyard/db/sql'

export interface NewUser {
  username: string
  name: string
  email: string
  admin: boolean
  /** Whether the user stands for a project token. Unset: false. */
  bot?: boolean
  /** Fields of GitLab by name; null: the value that it has at the beginning. */
  profile?: Record<string, string | number | boolean | null> | undefined
}

/** The key by which names and addresses are compared. It ignores upper and lower case. */
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

/** The user with this name; upper and lower case are equal. */
export const findUserByUsername = (
  { prisma }: DatabaseOrTransaction,
  username: string,
): Promise<User | null> => prisma.user.findUnique({ where: { usernameKey: keyOf(username) } })

export type UserState = 'active' | 'blocked'

export type UserChanges = Partial<Pick<NewUser, 'username' | 'name' | 'email' | 'admin' | 'profile'>> & {
  state?: UserState
}

/**
 * Changes a user; a profile takes the place of the whole profile. A new username also changes the paths of
 * the user's projects. Fails with a unique violation when the username or e-mail is taken; see
 * `violatedUniqueIndex`.
 */
export async function updateUser(
  { prisma }: DatabaseOrTransaction,
  id: number,
  { username, email, profile, ...changes }: UserChanges,
): Promise<User> {
  if (username !== undefined) {
    // The user is locked before the projects, as by a change of a project's path, and so that no project is
    // added meanwhile. The name changes last: from then on, nobody can add a row that refers to the user, and
    // who waits for that may have locked a project.
    await lockUserRow({ prisma }, id)
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
 * Ids of the administrators who are not blocked. Locks their rows until the transaction ends, so that two
 * administrators cannot block each other at the same time; rows that refer to them can still be added.
 */
export async function lockActiveAdministrators({ prisma }: DatabaseOrTransaction): Promise<number[]> {
  const rows = await prisma.$queryRaw<{ id: number }[]>`SELECT id FROM users
    WHERE admin AND state = 'active' ORDER BY id FOR NO KEY UPDATE`
  return rows.map(({ id }) => id)
}

export interface UserFilter {
  /** The exact username; upper and lower case are equal. */
  username?: string | undefined
  /** Part of the name or username, or the whole e-mail address; upper and lower case are equal. */
  search?: string | undefined
  state?: UserState | undefined
  admin?: boolean | undefined
  /** Whether it stands for a project token. */
  bot?: boolean | undefined
  /** Only users without a project of their own. */
  withoutProjects?: boolean | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
}

export interface UserOrder {
  column: 'id' | 'name' | 'username' | 'createdAt'
  direction: 'asc' | 'desc'
}

/** One page of the users, and the number of all users that match. */
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
 * Finds a user, who gets no project until the transaction ends.
 *
 * @returns null when there is no such user
 */
export async function lockUserForRemoval(
  transaction: DatabaseOrTransaction,
  id: number,
): Promise<User | null> {
  await lockRow(transaction, 'users', { id }, 'UPDATE')
  return transaction.prisma.user.findUnique({ where: { id } })
}

/** The projects that a user owns, oldest first. */
export const listProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<Project[]> =>
  prisma.project.findMany({ where: { ownerId }, orderBy: { id: 'asc' } })

export const countProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<number> =>
  prisma.project.count({ where: { ownerId } })

/**
 * Deletes a user without projects, and the user's tokens, sessions, memberships, saved views, locks and
 * identities. What belongs to projects stays and names nobody. What lets in whoever the user has told a
 * secret goes as well: project and deploy tokens that the user made, and rules that trust CI jobs.
 *
 * @param bots those of the user's project tokens and rules
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
 * Writes `deleted user` and the id wherever the name of a user stands in the audit log and in sagas, and
 * takes the addresses and the subjects at providers away.
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
