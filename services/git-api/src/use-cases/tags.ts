import { conflict, invalid, notFound, requireUnmodifiedSince } from '@switchyard/domain'
import { type Caller, zeroId } from '@switchyard/domain/access'
import { isNewBranchName, isObjectId, isRefName } from '@switchyard/domain/commit'
import { fullName, type Reference, type Repository } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import type { TagView } from '../repository-views.js'
import { findByName } from './branches.js'
import { referencesChanged } from './references-changed.js'
import { signatureOf } from './signature.js'
import { takeWindow, type Window } from './window.js'

export interface TagQuery {
  search: string
  order: 'name' | 'updated' | 'version'
  descending: boolean
  window: Window
}

/**
 * Some of the tags that a search finds, and how many it finds in all.
 *
 * @throws DomainError invalid-parameters for a window that begins after a tag that was not found
 */
export async function listTags(
  { repository }: ProjectCall,
  { search, order, descending, window }: TagQuery,
): Promise<{ tags: TagView[]; total: number; next: string | null }> {
  const found = findByName(await repository.listReferences({ kind: 'tag', order, descending }), search)
  const { items, next } = takeWindow(found, window, ({ name }) => name)
  return { tags: await describe(repository, items), total: found.length, next }
}

/** @throws DomainError not-found */
export async function getTag(
  { repository }: Pick<ProjectCall, 'repository'>,
  name: string,
): Promise<TagView> {
  const target = isRefName(name) ? await repository.findTagTarget(name) : null
  const [tag] = target === null ? [] : await describe(repository, [{ name, target }])
  if (!tag) throw notFound('Tag')
  return tag
}

async function describe(repository: Repository, references: readonly Reference[]): Promise<TagView[]> {
  const annotations = await repository.readAnnotations(references.map(({ name }) => name))
  return Promise.all(
    references.map(async ({ name, target }) => {
      const { message = '', taggedSeconds = null } = annotations.get(name) ?? {}
      return {
        name,
        target,
        commit: await repository.findCommit(target),
        message: message.trimEnd(),
        taggedAt: taggedSeconds === null ? null : new Date(taggedSeconds * 1000),
      }
    }),
  )
}

export interface CreateTagCommand {
  name: string
  /** Branch, tag or hash of the commit. */
  start: string
  /** Blank: a lightweight tag is made. */
  message: string
}

/**
 * Makes a tag that leads to a commit; the caller is the tagger of an annotated one.
 *
 * @throws DomainError invalid for a name that no tag may have, a start that names no commit, and a tag that exists
 */
export async function createTag(
  dependencies: Dependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  { name, start, message }: CreateTagCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<TagView> {
  if (isObjectId(name)) throw invalid('You cannot create a tag with a SHA-1 or SHA-256 tag name.')
  if (!isNewBranchName(name)) throw invalid('Tag name invalid')
  if (name === project.defaultBranch) throw invalid('You cannot use default branch name to create a tag')
  if ((await repository.findTagTarget(name)) !== null) throw invalid(`Tag ${name} already exists`)
  const commit = await repository.findCommit(start)
  if (!commit) throw invalid(`Target ${start} is invalid`)
  const isAnnotated = message.trim() !== ''
  const target = isAnnotated
    ? await repository.writeTag({ name, target: commit.id, tagger: signatureOf(caller.user), message })
    : commit.id
  const ref = fullName('tag', name)
  if (!(await repository.moveReference({ ref, from: null, to: target }))) {
    throw invalid(`Tag ${name} already exists`)
  }
  const about = { project, user: caller.user, baseUrl }
  await referencesChanged(dependencies, about, [{ ref, before: zeroId, after: target }])
  return getTag({ repository }, name)
}

/**
 * Deletes a tag.
 *
 * @param unmodifiedSinceMs the date of the tag, else of its commit, must not be later; NaN: it may be
 * @throws DomainError not-found; precondition-failed; conflict when the tag moves meanwhile
 */
export async function deleteTag(
  dependencies: Dependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  name: string,
  unmodifiedSinceMs: number,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<void> {
  const { target, taggedAt, commit } = await getTag({ repository }, name)
  requireUnmodifiedSince(taggedAt ?? new Date((commit?.committer.seconds ?? 0) * 1000), unmodifiedSinceMs)
  const ref = fullName('tag', name)
  if (!(await repository.moveReference({ ref, from: target, to: null }))) {
    throw conflict(`The tag ${name} was changed meanwhile. Please refresh and try again`)
  }
  const about = { project, user: caller.user, baseUrl }
  await referencesChanged(dependencies, about, [{ ref, before: target, after: zeroId }])
}
