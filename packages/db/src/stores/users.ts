import type { DatabaseOrTransaction } from '../client.js'
import type { Prisma, User } from '../generated/client.js'
import { likeText } from '../like-pattern.js'

export interface NewUser {
  username: string
  name: string
  email: string
  admin: boolean
  /** Whether the user stands for a project token. Unset: false. */
  bot?: boolean
}

/** The form in which names and addresses are compared: two that differ only in case are the same. */
const keyOf = (text: string) => text.toLowerCase()

/** Fails with a unique violation when username or e-mail are taken; see `violatedUniqueIndex`. */
export const createUser = ({ prisma }: DatabaseOrTransaction, user: NewUser): Promise<User> =>
  prisma.user.create({
    data: { ...user, usernameKey: keyOf(user.username), emailKey: keyOf(user.email) },
  })

export const findUser = ({ prisma }: DatabaseOrTransaction, id: number): Promise<User | null> =>
  prisma.user.findUnique({ where: { id } })

/** The user with this name, in any case. */
export const findUserByUsername = (
  { prisma }: DatabaseOrTransaction,
  username: string,
): Promise<User | null> => prisma.user.findUnique({ where: { usernameKey: keyOf(username) } })

export interface UserFilter {
  /** Exactly this name, in any case. */
  username?: string
  /** Part of the name or username, or the whole e-mail address, in any case. */
  search?: string
}

/** One page of the users, newest first, and how many there are in all. */
export async function listUsers(
  { prisma }: DatabaseOrTransaction,
  filter: UserFilter,
  rows: { skip: number; take: number },
): Promise<{ users: User[]; total: number }> {
  const where = whereOf(filter)
  const [users, total] = await Promise.all([
    prisma.user.findMany({ where, orderBy: { id: 'desc' }, ...rows }),
    prisma.user.count({ where }),
  ])
  return { users, total }
}

function whereOf({ username, search }: UserFilter): Prisma.UserWhereInput {
  return {
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
