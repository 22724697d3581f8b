import {
  type AuditAuthor,
  type DatabaseOrTransaction,
  findUser,
  createUser as insertUser,
  inTransaction,
  listUsers as listStoredUsers,
  type NewUser,
  type User,
  type UserFilter,
  type UserOrder,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, invalid, notFound, unauthenticated } from '@switchyard/domain'
import { type Caller, userProblems } from '@switchyard/domain/access'
import type { Dependencies, Rows } from '../dependencies.js'
import { recordUserEvent } from './audit.js'

export const listUsers = ({ database }: Dependencies, filter: UserFilter, order: UserOrder, rows: Rows) =>
  listStoredUsers(database, filter, order, rows)

/** The user who sends the request. @throws DomainError unauthenticated when the user was removed meanwhile */
export async function getCurrentUser({ database }: Dependencies, caller: Caller): Promise<User> {
  const user = await findUser(database, caller.user.id)
  if (!user) throw unauthenticated()
  return user
}

/** @throws DomainError not-found */
export async function getUser(database: DatabaseOrTransaction, id: number): Promise<User> {
  const user = await findUser(database, id)
  if (!user) throw notFound('User')
  return user
}

/**
 * Adds a user.
 *
 * @throws DomainError invalid, by field; conflict when the username or the e-mail address is taken
 */
export async function createUser({ database }: Dependencies, user: NewUser, author: AuditAuthor) {
  const problems = userProblems(user)
  if (Object.keys(problems).length > 0) throw invalid(problems)
  return refuseTakenNames(() =>
    inTransaction(database, async (transaction) => {
      const added = await insertUser(transaction, user)
      await recordUserEvent(transaction, author, added.id, 'user_created', {
        username: added.username,
        admin: added.admin,
      })
      return added
    }),
  )
}

/** @throws DomainError conflict when `write` fails because another user has the username or the e-mail address */
export async function refuseTakenNames<Written>(write: () => Promise<Written>): Promise<Written> {
  try {
    return await write()
  } catch (error) {
    const index = violatedUniqueIndex(error)
    if (index === null) throw error
    const field = index.includes('email') ? 'Email' : 'Username'
    throw conflict(`${field} has already been taken`, { cause: error })
  }
}
