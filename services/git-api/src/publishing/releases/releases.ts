import {
  type Database,
  type DatabaseOrTransaction,
  enqueueForProject,
  inTransaction,
  type Rows,
  requireUnchanged,
  sqlOf,
  violatedUniqueIndex,
} from '@switchyard/db'
import { conflict, forbidden, notFound, type Precondition, unprocessable } from '@switchyard/domain'
import {
  type Caller,
  decideProjectRight,
  type ProjectAccess,
  type RefChange,
} from '@switchyard/domain/access'
import { type Commit, isRefName } from '@switchyard/domain/commit'
import { type ReleaseLinkFields, validateLink, validateRelease } from '@switchyard/domain/release'
import { findTagTarget, fullName } from '@switchyard/git-storage/list-refs'
import { moveReference } from '@switchyard/git-storage/move-refs'
import { findCommit } from '@switchyard/git-storage/read-commits'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { Jobs } from '../../jobs.js'
import { beginChange, type ReferenceDependencies } from '../../repository/references/references.js'
import { addTag, mayCreateTag, planTag, protectedTagRefusal } from '../../repository/tags/tags.js'
import { releaseHook } from '../../shapes/hooks.js'
import {
  createRelease as createStoredRelease,
  deleteReleases,
  findLatestRelease,
  findRelease,
  listReleases as listStoredReleases,
  type ReleaseChanges,
  type ReleaseQuery,
  type ReleaseWithLinks,
  updateRelease,
} from './store.js'

/** A release, and the parts of it that depend on the repository and on the caller. */
export interface ReleaseView {
  release: ReleaseWithLinks
  /** Null when the tag does not point to a commit, or does not exist any more. */
  commit: Commit | null
  /** Whether the caller may read the code of the project. */
  showsCode: boolean
}

/** The release of a new tag makes the tag, which is a change of references. */
export type ReleaseDependencies = ProjectResourceDependencies & ReferenceDependencies

/** One page of the releases of a project, and how many there are in all. */
export async function listReleases(
  database: Database,
  access: ProjectCall,
  query: Omit<ReleaseQuery, 'projectId'>,
  rows: Rows,
): Promise<{ releases: ReleaseView[]; total: number }> {
  const found = await listStoredReleases(database, { ...query, projectId: access.project.id }, rows)
  const releases = await Promise.all(found.releases.map((release) => describe(access, release)))
  return { releases, total: found.total }
}

/** @throws DomainError not-found */
export const getRelease = async (
  database: Database,
  access: ProjectCall,
  tag: string,
): Promise<ReleaseView> => describe(access, await getStoredRelease(database, access, tag))

/** A release without the facts about its tag in the repository. @throws DomainError not-found */
export async function getStoredRelease(
  database: Database,
  { project }: ProjectCall,
  tag: string,
): Promise<ReleaseWithLinks> {
  const release = await findRelease(database, project.id, tag)
  if (!release) throw notFound('Release')
  return release
}

/** The tag of the newest release whose date is not in the future. @throws DomainError not-found */
export async function getLatestTag(database: Database, { project }: ProjectCall): Promise<string> {
  const release = await findLatestRelease(database, project.id, new Date())
  if (!release) throw notFound('Release')
  return release.tag
}

async function describe(access: ProjectCall, release: ReleaseWithLinks): Promise<ReleaseView> {
  const { project, repository, caller, memberLevel } = access
  const showsCode =
    decideProjectRight('read_code', project as ProjectAccess, caller, memberLevel) === 'allowed'
  const commit = showsCode ? await findTagged(repository, release.tag) : null
  return { release, commit, showsCode }
}

interface CreateReleaseCommand {
  tag: string
  /** Blank: a tag that is made for the release is a lightweight one. */
  tagMessage: string
  /** Branch, tag or hash for a tag that does not exist yet. */
  start: string | undefined
  /** Undefined: the name of the tag. */
  name: string | undefined
  description: string | undefined
  /** Undefined: now. */
  releasedAt: Date | undefined
  links: ReleaseLinkFields[]
}

/**
 * Makes a release of a tag. When there is no such tag, it is made as well, after everything else has been
 * checked, and removed again when the release cannot be stored.
 *
 * @throws DomainError forbidden when the caller may not create this tag; conflict when the tag has a release;
 *   invalid for texts and links that do not fit, and as createTag; unprocessable when the tag is missing and
 *   there is no start
 */
export async function createRelease(
  dependencies: ReleaseDependencies,
  access: ProjectCall<Caller>,
  command: CreateReleaseCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  const { database } = dependencies
  const { project, caller } = access
  const { tag, name = tag, description = null, releasedAt = new Date(), links } = command
  await requireTagRight(database, access, tag)
  if (await findRelease(database, project.id, tag)) throw conflict('Release already exists')
  validateRelease({ name, description })
  for (const [index, link] of links.entries()) validateLink(link, links.slice(0, index))
  const fields = {
    projectId: project.id,
    tag,
    name,
    description,
    authorId: caller.user.id,
    releasedAt,
    links,
  }
  const { recordIntent, publish } = beginChange(dependencies, { project, user: caller.user, baseUrl })
  const missing = await planMissingTag(access, command)
  await recordIntent(missing)
  let made = await addMissingTag(access, missing)
  let release: ReleaseWithLinks
  try {
    const commit = await findTagged(access.repository, tag)
    // git may wait for a slot for longer than a transaction lasts, so the tag comes before it.
    release = await inTransaction(database, async (transaction) => {
      const stored = await createStoredRelease(transaction, fields)
      const hook = { release: stored, action: 'create', baseUrl, commit } as const
      await enqueueReleaseHook(transaction, access, hook)
      return stored
    })
  } catch (error) {
    made = await removeUnreleased(dependencies, access, made)
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict('Release already exists', { cause: error })
  } finally {
    // Webhooks are notified of a tag that stays, also when the database is unreachable afterwards.
    if (made.length > 0) await publish(made)
  }
  announce(dependencies.jobs, release, 'create')
  return describe(access, release)
}

/** Plans the tag of a release when it does not exist. @returns no change when it does */
async function planMissingTag(
  access: ProjectCall<Caller>,
  { tag, tagMessage, start }: CreateReleaseCommand,
): Promise<RefChange[]> {
  const exists = async () => isRefName(tag) && (await findTagTarget(access.repository, tag)) !== null
  if (await exists()) return []
  if (start === undefined) throw unprocessable('Ref is not specified')
  try {
    return [await planTag(access, { name: tag, start, message: tagMessage })]
  } catch (error) {
    // Another request may have made the tag meanwhile.
    if (await exists()) return []
    throw error
  }
}

/** @returns the changes that this request made; none when another request made the tag meanwhile */
async function addMissingTag(
  access: ProjectCall<Caller>,
  missing: readonly RefChange[],
): Promise<RefChange[]> {
  const made: RefChange[] = []
  for (const change of missing) {
    try {
      await addTag(access, change)
      made.push(change)
    } catch (error) {
      if ((await findTagTarget(access.repository, tagNameOf(change))) === null) throw error
    }
  }
  return made
}

/**
 * Removes the tag that was made for a release that could not be stored. The tag stays when it has a release,
 * which another request or a commit without an answer has stored, and when the database cannot tell.
 *
 * @returns the changes that stay
 */
async function removeUnreleased(
  { database, git, logger }: ReleaseDependencies,
  { project }: ProjectCall,
  made: readonly RefChange[],
): Promise<RefChange[]> {
  const stay: RefChange[] = []
  for (const change of made) {
    const { ref, after } = change
    try {
      const hasRelease = (await findRelease(database, project.id, tagNameOf(change))) !== null
      // Without the signal of the request: the tag goes also when the client disconnects.
      const move = { ref, from: after, to: null }
      if (hasRelease || !(await moveReference(git.open(project), move))) stay.push(change)
    } catch (err) {
      logger.warn({ err, project_id: project.id }, 'could not remove the tag of a release that is not stored')
      stay.push(change)
    }
  }
  return stay
}

const tagNameOf = ({ ref }: RefChange): string => ref.slice(fullName('tag', '').length)

/**
 * Requires that the caller may create the tag of the release, which every change of a release needs.
 *
 * @throws DomainError forbidden
 */
export async function requireTagRight(database: Database, access: ProjectCall, tag: string): Promise<void> {
  if (!(await mayCreateTag(database, access, tag))) throw forbidden(protectedTagRefusal)
}

/** @throws DomainError forbidden; not-found; precondition-failed; invalid for texts that do not fit */
export async function changeRelease(
  dependencies: ReleaseDependencies,
  access: ProjectCall,
  {
    tag,
    changes,
    precondition,
  }: { tag: string; changes: ReleaseChanges; precondition: Precondition | undefined },
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  await requireTagRight(dependencies.database, access, tag)
  validateRelease(changes)
  const commit = await findTagged(access.repository, tag)
  const release = await inTransaction(dependencies.database, async (transaction) => {
    const { id: projectId } = access.project
    await requireUnchanged(transaction, 'releases', { project_id: projectId, tag }, precondition)
    const changed = await updateRelease(transaction, projectId, tag, changes)
    if (!changed) throw notFound('Release')
    await enqueueReleaseHook(transaction, access, { release: changed, action: 'update', baseUrl, commit })
    return changed
  })
  announce(dependencies.jobs, release, 'update')
  return describe(access, release)
}

/**
 * Deletes a release with its links; the tag stays.
 *
 * @throws DomainError forbidden; not-found; precondition-failed
 */
export async function removeRelease(
  dependencies: ReleaseDependencies,
  access: ProjectCall,
  { tag, precondition }: { tag: string; precondition: Precondition | undefined },
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  const { database } = dependencies
  await requireTagRight(database, access, tag)
  const view = await getRelease(database, access, tag)
  const { release } = view
  const commit = await findTagged(access.repository, tag)
  await inTransaction(database, async (transaction) => {
    const { id: projectId } = access.project
    await requireUnchanged(transaction, 'releases', { project_id: projectId, tag }, precondition)
    if ((await deleteReleases(transaction, projectId, [tag])) === 0) throw notFound('Release')
    await enqueueReleaseHook(transaction, access, { release, action: 'delete', baseUrl, commit })
  })
  announce(dependencies.jobs, release, 'delete')
  return view
}

interface ReleaseEvent {
  release: ReleaseWithLinks
  action: 'create' | 'update' | 'delete'
  baseUrl: string
  /**
   * That of the tag, read before the transaction: git may wait for a slot for longer than a transaction
   * lasts.
   */
  commit: Commit | null
}

const findTagged = async (repository: Repository, tag: string): Promise<Commit | null> =>
  isRefName(tag) ? findCommit(repository, fullName('tag', tag)) : null

/** Stores the webhook deliveries of a release, in the transaction of its change. */
const enqueueReleaseHook = (
  transaction: DatabaseOrTransaction,
  { project }: Pick<ProjectCall, 'project'>,
  { release, action, baseUrl, commit }: ReleaseEvent,
): Promise<void> =>
  enqueueForProject(sqlOf(transaction), project.id, 'releases', () =>
    releaseHook(release, { action, project, commit, baseUrl }),
  )

const announce = (
  jobs: Jobs,
  { projectId, id, tag }: ReleaseWithLinks,
  action: ReleaseEvent['action'],
): void => jobs.announce({ event: 'releases', project_id: projectId, id: Number(id), tag, action })
