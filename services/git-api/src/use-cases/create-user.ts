import {
  type AuditAuthor,
  createUser as insertUser,
  inTransaction,
  type NewUser,
  recordAuditEvent,
  type User,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, invalid } from '@switchyard/domain'
import { userProblems } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'

/**
 * Adds a user.
 *
 * @throws DomainError invalid, by field; conflict when the username or the e-mail address is taken
 */
export async function createUser(
  { database }: Dependencies,
  user: NewUser,
  author: AuditAuthor,
): Promise<User> {
  const problems = userProblems(user)
  if (Object.keys(problems).length > 0) throw invalid(problems)
  return refuseTakenNames(() =>
    inTransaction(database, async (transaction) => {
      const added = await insertUser(transaction, user)
      await recordAuditEvent(transaction, author, {
        eventName: 'user_created',
        entityType: 'User',
        entityId: added.id,
        details: { username: added.username, admin: added.admin },
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
