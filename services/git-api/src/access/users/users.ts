import {
  type AuditAuthor,
  type Database,
  type DatabaseOrTransaction,
  inTransaction,
  onTaken,
  requireUnchanged,
  type User,
} from '@switchyard/db'
import {
  conflict,
  forbidden,
  notFound,
  type Precondition,
  refuseProblems,
  unauthenticated,
} from '@switchyard/domain'
import { type Caller, deployCallerId, userProblems } from '@switchyard/domain/access'
import type { Authenticator } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import { changedFields, problemsOfChanges } from '../../changed-fields.js'
import { listDeployTokensOf } from '../deploy-tokens/store.js'
import { deleteSessionsOfUsers } from '../sessions/store.js'
import * as signIns from '../sign-in/store.js'
import { listBotsOfCreator } from '../tokens/store.js'
import type { NewUser, UserChanges, UserState } from './store.js'
import * as store from './store.js'

export { listUsers } from './store.js'

export interface UserDependencies {
  database: Database
  forgetUsers: Authenticator['forgetUsers']
}

/** Lists the accounts at providers by which the given users sign in. */
export const listIdentities = (database: Database, found: readonly User[]) =>
  signIns.listIdentities(
    database,
    found.map(({ id }) => id),
  )

/**
 * Returns the user who sends the request. @throws DomainError unauthenticated when the user was removed
 * meanwhile
 */
export async function getCurrentUser(database: Database, caller: Caller): Promise<User> {
  const user = await store.findUser(database, caller.user.id)
  if (!user) throw unauthenticated()
  return user
}

/** @throws DomainError not-found */
export async function getUser(database: DatabaseOrTransaction, id: number): Promise<User> {
  const user = await store.findUser(database, id)
  if (!user) throw notFound('User')
  return user
}

/** @param reference id or username */
export async function findUserNamed(
  database: DatabaseOrTransaction,
  reference: string,
): Promise<User | null> {
  const found = /^\d{1,9}$/.test(reference) ? await store.findUser(database, Number(reference)) : null
  return found ?? store.findUserByUsername(database, reference)
}

/**
 * Adds a user.
 *
 * @throws DomainError invalid, by field; conflict when the username or the e-mail address is taken
 */
export async function createUser(database: Database, user: NewUser, author: AuditAuthor) {
  refuseProblems(userProblems(user))
  return inTransaction(database, async (transaction) => {
    const added = await store.createUser(transaction, user)
    await recordUserEvent(transaction, author, added.id, 'user_created', {
      username: added.username,
      admin: added.admin,
    })
    return added
  }).catch(refuseTaken)
}

const refuseTaken = onTaken((cause, index) =>
  conflict(`${index.includes('email') ? 'Email' : 'Username'} has already been taken`, { cause }),
)

/** The name by which the service finds the first administrator at every start. */
export const firstAdministrator = 'root'

/**
 * Changes names, e-mail address and rights of a user. The paths of projects follow a new username.
 *
 * @throws DomainError not-found; precondition-failed; forbidden for taking the last administrator's rights;
 *   invalid, by field; conflict when the username or the e-mail address is taken
 */
export async function changeUser(
  { database, forgetUsers }: UserDependencies,
  id: number,
  { profile, ...columns }: Omit<UserChanges, 'state'>,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<User> {
  const changed = await inTransaction(database, async (transaction) => {
    const administrators = await store.lockActiveAdministrators(transaction)
    await requireUnchanged(transaction, 'users', { id }, precondition)
    const user = await getUser(transaction, id)
    const changes = { ...changedFields(user, columns), ...changedProfile(user, profile) }
    if (Object.keys(changes).length === 0) return user
    refuseBadChanges(user, changes)
    if (changes.admin === false) refuseLastAdministrator(administrators, id)
    const updated = await store.updateUser(transaction, id, changes)
    await recordUserEvent(transaction, author, id, 'user_updated', {
      changed: [...Object.keys(changedFields(user, columns)), ...Object.keys(profile ?? {})],
      username: updated.username,
      admin: updated.admin,
    })
    return updated
  }).catch(refuseTaken)
  forgetUsers([id])
  return changed
}

/** Returns the whole profile with the changes; undefined when there are none. */
const changedProfile = (
  { profile: before }: User,
  asked: UserChanges['profile'],
): Pick<UserChanges, 'profile'> =>
  asked && Object.keys(asked).length > 0
    ? { profile: { ...(before as UserChanges['profile']), ...asked } }
    : {}

/**
 * Blocks or unblocks a user. While a user is blocked, the user's tokens and the project and deploy tokens
 * that the user created do not work, and their sessions are deleted.
 *
 * @throws DomainError not-found; forbidden for blocking oneself or the last administrator
 */
export async function setUserState(
  { database, forgetUsers }: UserDependencies,
  id: number,
  state: UserState,
  author: AuditAuthor,
): Promise<void> {
  const bots = await inTransaction(database, async (transaction) => {
    const administrators = await store.lockActiveAdministrators(transaction)
    const user = await getUser(transaction, id)
    if (state === 'blocked') {
      if (id === author.authorId) throw forbidden('The API initiating user cannot be blocked by the API')
      refuseLastAdministrator(administrators, id)
    }
    if (user.state !== state) {
      await store.updateUser(transaction, id, { state })
      await recordUserEvent(
        transaction,
        author,
        id,
        state === 'blocked' ? 'user_blocked' : 'user_unblocked',
        { username: user.username },
      )
    }
    const deployTokens = await listDeployTokensOf(transaction, id)
    const projectBots = await listBotsOfCreator(transaction, id)
    if (state === 'blocked') await deleteSessionsOfUsers(transaction, [id, ...projectBots])
    return [...projectBots, ...deployTokens.map(deployCallerId)]
  })
  forgetUsers([id, ...bots])
}

function refuseLastAdministrator(administrators: readonly number[], id: number): void {
  if (administrators.length === 1 && administrators[0] === id)
    throw forbidden('The last active administrator cannot be blocked or lose these rights')
}

function refuseBadChanges(user: User, changes: Omit<UserChanges, 'state'>): void {
  const problems = problemsOfChanges(userProblems({ ...user, ...changes }), changes)
  if (changes.username !== undefined && user.usernameKey === firstAdministrator) {
    problems.username = ['of the first administrator cannot be changed']
  }
  if (user.bot && changes.admin === true) problems.admin = ['cannot be given to a project token']
  if (user.bot && changes.username !== undefined) problems.username = ['of a project token cannot be changed']
  refuseProblems(problems)
}
