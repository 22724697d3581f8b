import {
  type Database,
  inTransaction,
  type PrismaTransaction,
  type Project,
  type Rows,
  requireUnchanged,
} from '@switchyard/db'
import { forbidden, notFound, type Precondition } from '@switchyard/domain'
import { type Commit, isRefName, tagRef } from '@switchyard/domain/commit'
import { validateRelease } from '@switchyard/domain/release'
import { findCommit } from '@switchyard/git-storage/commits'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import { enqueueForProject, hasSubscriber } from '@switchyard/webhooks'
import { mayReadCode, type ProjectCall } from '../../guards.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { mayCreateTag, protectedTagRefusal } from '../../repository/protected-tags/protected-tags.js'
import { releaseHook } from '../../shapes/hooks.js'
import type { ReleaseChanges, ReleaseQuery, ReleaseWithLinks } from './store.js'
import * as store from './store.js'

/** A release with the fields that depend on the repository and on the caller. */
export interface ReleaseView {
  release: ReleaseWithLinks
  /** Null when the tag does not point to a commit, or no longer exists. */
  commit: Commit | null
  /** Whether the caller may read the code of the project. */
  showsCode: boolean
}

/** The dependencies of a change of a release. */
export interface ReleaseDependencies {
  database: Database
  messages: OutgoingMessages
}

/** The maximum number of releases that webhooks receive when one push deletes the tags of releases. */
const notifiedReleasesMax = 100

/** Returns one page of the releases of a project, and the number of all. */
export async function listReleases(
  database: Database,
  access: ProjectCall,
  query: Omit<ReleaseQuery, 'projectId'>,
  rows: Rows,
): Promise<{ releases: ReleaseView[]; total: number }> {
  const found = await store.listReleases(database, { ...query, projectId: access.project.id }, rows)
  const releases = await Promise.all(found.releases.map((release) => describeRelease(access, release)))
  return { releases, total: found.total }
}

/** @throws DomainError not-found */
export const getRelease = async (
  database: Database,
  access: ProjectCall,
  tag: string,
): Promise<ReleaseView> => describeRelease(access, await getStoredRelease(database, access, tag))

/** Returns a release without the data of its tag from the repository. @throws DomainError not-found */
export async function getStoredRelease(
  database: Database,
  { project }: ProjectCall,
  tag: string,
): Promise<ReleaseWithLinks> {
  const release = await store.findRelease(database, project.id, tag)
  if (!release) throw notFound('Release')
  return release
}

/** Returns the tag of the newest release whose date is not in the future. @throws DomainError not-found */
export async function getLatestTag(database: Database, { project }: ProjectCall): Promise<string> {
  const release = await store.findLatestPublishedRelease(database, project.id, new Date())
  if (!release) throw notFound('Release')
  return release.tag
}

export async function describeRelease(access: ProjectCall, release: ReleaseWithLinks): Promise<ReleaseView> {
  const showsCode = mayReadCode(access)
  const commit = showsCode ? await findTagged(access.repository, release.tag) : null
  return { release, commit, showsCode }
}

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
  deps: ReleaseDependencies,
  access: ProjectCall,
  {
    tag,
    changes,
    precondition,
  }: { tag: string; changes: ReleaseChanges; precondition: Precondition | undefined },
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  await requireTagRight(deps.database, access, tag)
  validateRelease(changes)
  const commit = await findCommitForHook(deps.database, access, tag)
  const release = await inTransaction(deps.database, async (transaction) => {
    const { id: projectId } = access.project
    await requireUnchanged(transaction, 'releases', { project_id: projectId, tag }, precondition)
    const changed = await store.updateRelease(transaction, projectId, tag, changes)
    if (!changed) throw notFound('Release')
    await enqueueReleaseHook(transaction, access, { release: changed, action: 'update', baseUrl, commit })
    return changed
  })
  announceRelease(deps.messages, release, 'update')
  return describeRelease(access, release)
}

/**
 * Deletes a release with its links; the tag stays.
 *
 * @throws DomainError forbidden; not-found; precondition-failed
 */
export async function removeRelease(
  deps: ReleaseDependencies,
  access: ProjectCall,
  { tag, precondition }: { tag: string; precondition: Precondition | undefined },
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  await requireTagRight(deps.database, access, tag)
  const view = await getRelease(deps.database, access, tag)
  const deleted = await removeReleasesOfTags(deps, access.project, {
    tags: [tag],
    findCommitOf: () => findTagged(access.repository, tag),
    precondition,
    baseUrl,
  })
  if (deleted === 0) throw notFound('Release')
  return view
}

/**
 * Deletes the releases of some tags with their links, and notifies webhooks.
 *
 * @param precondition of the request for each release
 * @returns the number of releases whose webhooks are notified, at most {@link notifiedReleasesMax}
 * @throws DomainError precondition-failed
 */
export async function removeReleasesOfTags(
  { database, messages }: ReleaseDependencies,
  project: Project,
  {
    tags,
    findCommitOf,
    precondition,
    baseUrl,
  }: {
    tags: readonly string[]
    findCommitOf: (tag: string) => Promise<Commit | null>
    precondition?: Precondition | undefined
    baseUrl: string
  },
): Promise<number> {
  const known = await store.listReleasesOfTags(database, project.id, tags, notifiedReleasesMax)
  if (known.length === 0) return 0
  const commits = new Map<string, Commit | null>()
  if (await hasSubscriber(database.pool, project.id, 'releases')) {
    for (const { tag } of known) commits.set(tag, await findCommitOf(tag))
  }
  const deleted = await inTransaction(database, async (transaction) => {
    const found = await store.listReleasesOfTags(transaction, project.id, tags, notifiedReleasesMax)
    for (const { projectId, tag } of found) {
      await requireUnchanged(transaction, 'releases', { project_id: projectId, tag }, precondition)
    }
    const gone = await store.deleteReleases(transaction, project.id, tags)
    const releases = found.filter(({ tag }) => gone.has(tag))
    for (const release of releases) {
      const hook = { release, action: 'delete', baseUrl, commit: commits.get(release.tag) ?? null } as const
      await enqueueReleaseHook(transaction, { project }, hook)
    }
    return releases
  })
  for (const release of deleted) announceRelease(messages, release, 'delete')
  return deleted.length
}

interface ReleaseEvent {
  release: ReleaseWithLinks
  action: 'create' | 'update' | 'delete'
  baseUrl: string
  /**
   * The commit of the tag. It is read before the transaction, because git may wait for a slot longer than a
   * transaction may last, and only when a webhook subscribes, because git may refuse when it is busy.
   */
  commit: Commit | null
}

const findTagged = async (repository: Repository, tag: string): Promise<Commit | null> =>
  isRefName(tag) ? findCommit(repository, tagRef(tag)) : null

/** Returns the commit of a tag; null also when no webhook of the project receives it. */
export const findCommitForHook = async (
  database: Database,
  { project, repository }: ProjectCall,
  tag: string,
): Promise<Commit | null> =>
  (await hasSubscriber(database.pool, project.id, 'releases')) ? findTagged(repository, tag) : null

/** Stores the webhook deliveries of a release, in the transaction of its change. */
export const enqueueReleaseHook = (
  transaction: PrismaTransaction,
  { project }: { project: Project },
  { release, action, baseUrl, commit }: ReleaseEvent,
): Promise<void> =>
  enqueueForProject(transaction, project.id, 'releases', () =>
    releaseHook(release, { action, project, commit, baseUrl }),
  )

export const announceRelease = (
  messages: OutgoingMessages,
  { projectId, id, tag }: ReleaseWithLinks,
  action: ReleaseEvent['action'],
): void => messages.announce({ event: 'releases', project_id: projectId, id: Number(id), tag, action })
