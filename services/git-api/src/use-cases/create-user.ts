import { createUser as insertUser, type NewUser, type User, violatedUniqueIndex } from '@switchyard/db'
import { conflict, invalid } from '@switchyard/domain'
import { userProblems } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'

/**
 * Adds a user.
 *
 * @throws DomainError invalid, by field; conflict when the username or the e-mail address is taken
 */
export async function createUser({ database }: Dependencies, user: NewUser): Promise<User> {
  const problems = userProblems(user)
  if (Object.keys(problems).length > 0) throw invalid(problems)
  try {
    return await insertUser(database, user)
  } catch (error) {
    const index = violatedUniqueIndex(error)
    if (index === null) throw error
    const field = index.includes('email') ? 'Email' : 'Username'
    throw conflict(`${field} has already been taken`, { cause: error })
  }
}
