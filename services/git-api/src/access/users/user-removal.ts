import {
  type AuditAuthor,
  type Database,
  deletingMsMax,
  inTransaction,
  type PrismaTransaction,
  requireUnchanged,
} from '@switchyard/db'
import { conflict, forbidden, notFound, type Precondition } from '@switchyard/domain'
import { deployCallerId } from '@switchyard/domain/access'
import { recordUserEvent } from '../../audit/audit.js'
import { type ProjectDependencies, removeProject } from '../../projects/projects.js'
import { listDeployTokensOf } from '../deploy-tokens/store.js'
import { deleteSessionsOfUsers } from '../sessions/store.js'
import { listBotsOfCreator } from '../tokens/store.js'
import {
  countProjectsOfOwner,
  deleteUser,
  eraseUserNames,
  findUser,
  listProjectsOfOwner,
  lockUserForRemoval,
} from './store.js'
import { firstAdministrator, getUser, type UserDependencies } from './users.js'

interface RemovalOptions {
  withProjects: boolean
  erase: boolean
  precondition: Precondition | undefined
}

export interface RemoveUserDependencies extends UserDependencies, ProjectDependencies {
  /** A connection whose statements may take as long as {@link erasingMsMax}. */
  erasingDatabase: Database
}

/**
 * Deletes a user permanently. Commits keep their authors; comments, statuses, releases and deployments stay
 * without an author.
 *
 * @param withProjects deletes the user's projects, too, one after the other; what is left is deleted by
 *   another try
 * @param erase also removes the name and addresses from the audit log and from sagas, even for a user who was
 *   deleted before
 * @throws DomainError not-found; forbidden for oneself and the first administrator; conflict for a user who
 *   owns projects; precondition-failed
 */
export async function removeUser(
  deps: RemoveUserDependencies,
  id: number,
  { withProjects, erase, precondition }: RemovalOptions,
  author: AuditAuthor,
): Promise<void> {
  const { database, erasingDatabase, forgetUsers } = deps
  if (erase && !(await findUser(database, id))) return eraseDeletedUser(erasingDatabase, id, author)
  const { usernameKey, updatedAt } = await getUser(database, id)
  if (id === author.authorId) throw forbidden('The API initiating user cannot be deleted by the API')
  if (usernameKey === firstAdministrator) throw forbidden('The first administrator cannot be deleted')
  precondition?.(updatedAt)
  if (withProjects) await removeProjectsOf(deps, id, author)
  const deleting = async (transaction: PrismaTransaction) => {
    await requireUnchanged(transaction, 'users', { id }, precondition)
    const user = await lockUserForRemoval(transaction, id)
    if (!user) throw notFound('User')
    const owned = await countProjectsOfOwner(transaction, id)
    if (owned > 0) throw conflict(ownsProjects(owned))
    const bots = await listBotsOfCreator(transaction, id)
    const deployTokens = await listDeployTokensOf(transaction, id)
    await deleteSessionsOfUsers(transaction, [id, ...bots])
    await deleteUser(transaction, id, bots)
    if (erase) await eraseUserNames(transaction, id, user.username)
    await recordUserEvent(transaction, author, id, 'user_destroyed', {
      ...(erase ? { erased: true } : { username: user.username }),
      with_projects: withProjects,
    })
    return [...bots, ...deployTokens.map(deployCallerId)]
  }
  const others = erase
    ? await inTransaction(erasingDatabase, deleting, erasingMsMax)
    : await inTransaction(database, deleting, deletingMsMax)
  forgetUsers([id, ...others])
}

/** Time limit of erasing, which reads every entry of the audit log and every saga. */
export const erasingMsMax = 4 * deletingMsMax

/** @throws DomainError not-found when the audit log knows no such user, or no name of the user is left */
const eraseDeletedUser = (database: Database, id: number, author: AuditAuthor) =>
  inTransaction(
    database,
    async (transaction) => {
      if (!(await eraseUserNames(transaction, id, null))) throw notFound('User')
      await recordUserEvent(transaction, author, id, 'user_erased', {})
    },
    erasingMsMax,
  )

const ownsProjects = (owned: number) =>
  `User cannot be removed: they own ${owned === 1 ? 'a project' : `${owned} projects`}. Delete them, or send hard_delete=true`

/** @throws DomainError conflict when another storage has one of the repositories */
async function removeProjectsOf(deps: RemoveUserDependencies, id: number, author: AuditAuthor) {
  const projects = await listProjectsOfOwner(deps.database, id)
  const elsewhere = projects.find(({ storage }) => storage !== deps.storages.own)
  if (elsewhere) {
    throw conflict(
      `User cannot be removed: another storage has ${elsewhere.pathWithNamespace}. Delete it first`,
    )
  }
  for (const project of projects) {
    deps.guards.noteChange(project.id)
    await removeProject(deps, { project }, author)
    deps.guards.noteChange(project.id)
  }
}
