import { isDeepStrictEqual } from 'node:util'
import {
  type AuditAuthor,
  type Database,
  deletingMsMax,
  findStorageUse,
  inTransaction,
  onTaken,
  type PrismaTransaction,
  type Project,
  type Rows,
  requireUnchanged,
  sumLfsObjects,
} from '@switchyard/db'
import { lockUserRow } from '@switchyard/db/sql'
import { excerpt, forbidden, invalid, notFound, type Precondition, refuseProblems } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  effectiveLevel,
  type ProjectAccess,
  projectProblems,
} from '@switchyard/domain/access'
import { isNewRefName } from '@switchyard/domain/commit'
import { countAncestors } from '@switchyard/git-storage/commits'
import type { Git } from '@switchyard/git-storage/git'
import { findBranchTip, hasNoBranch, pointHeadTo } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import { countBytes } from '@switchyard/git-storage/repository-files'
import type { Call } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import { findUser } from '../access/users/store.js'
import { recordProjectEvent } from '../audit/audit.js'
import { changedFields, problemsOfChanges } from '../changed-fields.js'
import type { ProjectCall, ProjectResourceDependencies } from '../guards.js'
import { listEmptyRepositoriesIn, type Storages } from '../storages/storages.js'
import type { StorageSpace } from '../system/system.js'
import type { ProjectFilter, ProjectOrder } from './list-store.js'
import * as listStore from './list-store.js'
import {
  deleteProject,
  deleteStatuses,
  type ProjectChanges,
  type ProjectWithOwner,
  updateProject,
} from './store.js'

/** The number of commits of a project, and its size on disk. */
export interface ProjectStatistics {
  /** Number of commits of the default branch. */
  commitCount: number
  /** Bytes of git objects. */
  repositoryBytes: number
  lfsObjectBytes: number
  reportBytes: number
  /** Most bytes for git objects and LFS objects together; null: no limit. */
  bytesMax: number | null
}

export interface ProjectDependencies extends ProjectResourceDependencies {
  git: Git
  logger: Logger
  storageSpace: StorageSpace
  storages: Storages
}

/** A project with the fields that depend on the caller and on the repository. */
export interface ProjectDescription {
  project: ProjectWithOwner
  /** The caller's access level in the project; null for an anonymous caller. */
  level: number | null
  /** Whether the repository has no branch yet. */
  empty: boolean
  statistics?: ProjectStatistics
}

/** Most repositories that one request reads at the same time. */
const atOnceMax = 8

/** Lists the projects that the caller may see. */
export async function listProjects(
  deps: ProjectDependencies,
  caller: Caller,
  filter: Omit<ProjectFilter, 'viewer' | 'only'>,
  order: ProjectOrder,
  rows: Rows,
  { signal }: Call,
): Promise<{ projects: ProjectDescription[]; total: number }> {
  const where = { ...filter, viewer: caller.user, only: caller.token.projectId ?? undefined }
  const found = await listStore.listProjects(deps.database, where, order, rows)
  const listed = found.projects.map(({ project }) => project)
  const emptyElsewhere = await findEmptyElsewhere(deps, listed, signal)
  const projects: ProjectDescription[] = []
  for (let first = 0; first < found.projects.length; first += atOnceMax) {
    const batch = found.projects.slice(first, first + atOnceMax).map(async ({ project, memberLevel }) => {
      if (project.storage !== deps.storages.own) {
        const level = levelOf(project, caller, memberLevel)
        return { project, level, empty: emptyElsewhere.has(project.id) }
      }
      const repository = deps.git.open(project, { signal })
      return describeProject(deps.logger, project, { caller, memberLevel, repository })
    })
    projects.push(...(await Promise.all(batch)))
  }
  return { projects, total: found.total }
}

/** Returns the given projects whose repository is in another storage and has no branch yet. */
async function findEmptyElsewhere(
  { storages, logger }: ProjectDependencies,
  projects: readonly ProjectWithOwner[],
  signal: AbortSignal,
): Promise<Set<number>> {
  const names = new Set(projects.map(({ storage }) => storage).filter((storage) => storage !== storages.own))
  const found = [...names].map(async (name) => {
    const ids = projects.filter(({ storage }) => storage === name).map(({ id }) => id)
    try {
      return await listEmptyRepositoriesIn(storages, name, ids, signal)
    } catch (error) {
      // A storage that is unreachable must not hide a whole list of projects. Its projects are shown as
      // empty, like projects with an unreadable repository.
      logger.error({ err: error, storage: name }, 'could not read the repositories of another storage')
      return ids
    }
  })
  return new Set((await Promise.all(found)).flat())
}

/**
 * Like {@link listProjects}, but without the fields that depend on the caller and on the repository.
 * Anonymous callers may use it, too.
 */
export async function listBasicProjects(
  database: Database,
  caller: Caller | null,
  filter: Omit<ProjectFilter, 'viewer' | 'only'>,
  order: ProjectOrder,
  rows: Rows,
): Promise<{ projects: ProjectWithOwner[]; total: number }> {
  const where = { ...filter, viewer: caller?.user ?? null, only: caller?.token.projectId ?? undefined }
  const found = await listStore.listProjects(database, where, order, rows)
  return { projects: found.projects.map(({ project }) => project), total: found.total }
}

/**
 * @param withStatistics adds statistics, which only reporters see
 * @throws DomainError not-found when the project was deleted meanwhile
 */
export async function getProject(
  deps: ProjectDependencies,
  access: ProjectCall,
  { withStatistics }: { withStatistics: boolean },
): Promise<ProjectDescription> {
  const owner = await findUser(deps.database, access.project.ownerId)
  if (!owner) throw notFound('Project')
  const described = await describeProject(deps.logger, { ...access.project, owner }, access)
  if (!withStatistics || access.level < accessLevels.reporter) return described
  return { ...described, statistics: await readStatistics(deps, access, owner) }
}

async function readStatistics(
  { database, storageSpace }: ProjectDependencies,
  { project, repository }: ProjectCall,
  owner: { admin: boolean },
): Promise<ProjectStatistics> {
  const tip = await findBranchTip(repository, project.defaultBranch)
  const [repositoryBytes, lfsObjectBytes, use, commitCount] = await Promise.all([
    countBytes(repository),
    sumLfsObjects(database, project.id),
    findStorageUse(database, project.diskPath),
    tip === null ? 0 : countAncestors(repository, { tip, firstParent: false }),
  ])
  const { projectBytesMax: bytesMax } = storageSpace.limitsOf({
    own: project.repositorySizeLimit,
    isOwnedByAdministrator: owner.admin,
  })
  return { commitCount, repositoryBytes, lfsObjectBytes, reportBytes: use?.reportBytes ?? 0, bytesMax }
}

/** Adds the caller's level, and whether the repository has no branch. */
export async function describeProject(
  logger: Logger,
  project: ProjectWithOwner,
  { caller, memberLevel, repository }: Pick<ProjectCall, 'caller' | 'memberLevel' | 'repository'>,
): Promise<ProjectDescription> {
  const empty = await hasNoBranch(repository).catch((error: unknown) => {
    // One damaged repository must not hide a whole list of projects.
    logger.error({ err: error, project_id: project.id }, 'could not read the repository')
    return true
  })
  return { project, level: levelOf(project, caller, memberLevel), empty }
}

const levelOf = (project: ProjectWithOwner, caller: Caller | null, memberLevel: number | null) =>
  caller && effectiveLevel(project as ProjectAccess & ProjectWithOwner, caller, memberLevel)

/**
 * Changes a project. Maintainers may change everything except its visibility, which the owner sets, and its
 * size limit, which administrators set.
 *
 * @throws DomainError forbidden; precondition-failed; invalid, by field; not-found when the project was
 *   deleted meanwhile
 */
export async function changeProject(
  deps: ProjectDependencies,
  access: ProjectCall,
  asked: ProjectChanges,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<ProjectDescription> {
  const { project, level, repository } = access
  const isSame = (name: 'topics' | 'defaultServices') => isDeepStrictEqual(asked[name], project[name])
  // A requested branch is never a substitute, even when the project already shows that branch.
  const wantedDefaultBranch = asked.defaultBranch === undefined ? undefined : null
  const given = {
    ...asked,
    ...(isSame('topics') && { topics: undefined }),
    ...(isSame('defaultServices') && { defaultServices: undefined }),
  }
  const changes = changedFields(project, { ...given, wantedDefaultBranch })
  if (changes.visibility !== undefined && level < accessLevels.owner) {
    throw forbidden('You need at least the role Owner in this project')
  }
  if (changes.repositorySizeLimit !== undefined) requireMayLimitSize(access.caller)
  const { name, path } = project
  refuseProblems(problemsOfChanges(projectProblems({ name, path, ...changes }), changes))
  if (changes.defaultBranch !== undefined) await refuseMissingBranch(repository, changes.defaultBranch)
  const changed = await writeChanges(deps, project, changes, author, precondition)
  deps.guards.noteChange(project.id)
  return describeProject(deps.logger, changed, access)
}

/**
 * Archives a project, which makes it read-only, or unarchives it.
 *
 * @throws DomainError not-found when the project was deleted meanwhile
 */
export async function setArchived(
  deps: ProjectDependencies,
  access: ProjectCall,
  archived: boolean,
  author: AuditAuthor,
): Promise<ProjectDescription> {
  const { project } = access
  const changed = await inTransaction(deps.database, async (transaction) => {
    const written = await updateProject(transaction, project, { archived })
    if (!written) throw notFound('Project')
    const eventName = archived ? 'project_archived' : 'project_unarchived'
    if (archived !== project.archived) {
      await recordProjectEvent(transaction, author, project.id, eventName, {
        path_with_namespace: project.pathWithNamespace,
      })
    }
    return written
  })
  deps.guards.noteChange(project.id)
  return describeProject(deps.logger, changed, access)
}

/** @throws DomainError forbidden */
export function requireMayLimitSize(caller: Caller | null): void {
  if (!caller?.user.admin) throw forbidden('Only administrators can set repository_size_limit')
}

/** Refuses a default branch that does not exist. In an empty repository, it need not exist yet. */
async function refuseMissingBranch(repository: Repository, branch: string): Promise<void> {
  if ((await findBranchTip(repository, branch)) !== null) return
  if (isNewRefName(branch) && (await hasNoBranch(repository))) return
  const question = `Do you have a branch named '${excerpt(branch)}' in your repository?`
  throw invalid({ base: [`Could not set the default branch. ${question}`] })
}

async function writeChanges(
  { database, git }: ProjectDependencies,
  project: Project,
  changes: ProjectChanges,
  author: AuditAuthor,
  precondition: Precondition | undefined,
): Promise<ProjectWithOwner> {
  return inTransaction(database, async (transaction) => {
    // The path contains the owner's name. The owner is locked before the project, as in a change of the
    // username.
    if (changes.path !== undefined) await lockUserRow(transaction, project.ownerId)
    await requireUnchanged(transaction, 'projects', { id: project.id }, precondition)
    const changed = await updateProject(transaction, project, changes)
    if (!changed) throw notFound('Project')
    if (Object.keys(changes).length === 0) return changed
    await recordProjectEvent(transaction, author, project.id, 'project_updated', {
      changed: changedNames(changes),
      path_with_namespace: changed.pathWithNamespace,
      visibility: changed.visibility,
    })
    // A clone checks out the branch that HEAD points to. HEAD moves last, so that a refused change does not
    // move it. It moves without the signal of the request, so that HEAD and the row stay equal when the
    // client disconnects.
    if (changes.defaultBranch !== undefined) await pointHeadTo(git.open(project), changes.defaultBranch)
    return changed
  }).catch(onTaken((cause) => invalid({ path: ['has already been taken'] }, { cause })))
}

/** Returns the names of changed fields, as the API has them. Settings are listed one by one. */
const changedNames = ({ settings = {}, ...columns }: ProjectChanges): string[] => [
  ...Object.keys(columns).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  ...Object.keys(settings),
]

/**
 * Removes a project, then its repository. The row is deleted first, because a repository without a row cannot
 * be reached. If this process is killed, orphaned-repositories.ts removes the remaining files later.
 *
 * The statuses are deleted before the row, in parts, so that the row is not locked for long. When the
 * deletion fails halfway, the project remains without them, and another try deletes the rest. A deletion with
 * a precondition deletes everything or nothing.
 *
 * @throws DomainError precondition-failed
 */
export async function removeProject(
  { database, git, logger }: ProjectDependencies,
  { project }: { project: Project },
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  const deleting = async (transaction: PrismaTransaction) => {
    await requireUnchanged(transaction, 'projects', { id: project.id }, precondition)
    await deleteProject(transaction, project.id)
    await recordProjectEvent(transaction, author, project.id, 'project_destroyed', {
      path_with_namespace: project.pathWithNamespace,
    })
  }
  if (!precondition) await deleteStatuses(database, project.id)
  await inTransaction(database, deleting, deletingMsMax)
  try {
    await git.deleteRepository(project.diskPath)
  } catch (error) {
    const { diskPath: disk_path } = project
    logger.error({ err: error, disk_path }, 'could not remove the repository of a deleted project')
  }
}
