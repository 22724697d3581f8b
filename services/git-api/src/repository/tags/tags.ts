import type { Database } from '@switchyard/db'
import { conflict, excerpt, forbidden, invalid, notFound, requireUnmodifiedSince } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  compileProtections,
  type RefChange,
  zeroId,
} from '@switchyard/domain/access'
import {
  type Commit,
  isNewRefName,
  isObjectId,
  isRefName,
  shortRefName,
  tagRef,
} from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/commits'
import {
  findTagTarget,
  listReferences,
  moveReference,
  type Reference,
  readAnnotations,
  writeTag,
} from '@switchyard/git-storage/references'
import type { RecordIntent } from '@switchyard/git-storage/repository'
import { type Call, takeWindow, type Window } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { findDescriptionsOfTags } from '../../publishing/releases/store.js'
import type { SignatureKind } from '../../shapes/commit.js'
import { filterByName } from '../branches/branches.js'
import { readSignature } from '../commits/commits.js'
import { mayCreateTag, protectedTagRefusal } from '../protected-tags/protected-tags.js'
import { listProtectedTags } from '../protected-tags/store.js'
import { beginChange, type ReferenceDependencies, signatureOf } from '../references/references.js'

/** A tag and its commit. */
export interface TagView {
  name: string
  /** Id of the tag object for an annotated tag, otherwise of the commit. */
  target: string
  /** Null when the tag does not point to a commit. */
  commit: Commit | null
  /** Empty for a lightweight tag. */
  message: string
  /** Null for a lightweight tag. */
  taggedAt: Date | null
  isProtected: boolean
  /** Null: the tag has no release. */
  release: { description: string | null } | null
}

interface TagQuery {
  search: string
  /** Undefined: every name. */
  regex: string | undefined
  order: 'name' | 'updated' | 'version'
  descending: boolean
  window: Window
}

/**
 * Returns one window of the tags that match, and the number of all of them.
 *
 * @throws DomainError invalid-parameters for a window that begins after a tag that was not found; invalid for
 *   a regular expression that is malformed or too large
 */
export async function listTags(
  database: Database,
  access: Pick<ProjectCall, 'project' | 'repository'>,
  { search, regex, order, descending, window }: TagQuery,
): Promise<{ tags: TagView[]; total: number; next: string | null }> {
  const all = await listReferences(access.repository, { kind: 'tag', order, descending })
  const found = await filterByName(all, { search, regex })
  const { items, next } = takeWindow(found, window, ({ name }) => name)
  return { tags: await describeTags(database, access, items), total: found.length, next }
}

/** @throws DomainError not-found */
export async function getTag(
  database: Database,
  access: Pick<ProjectCall, 'project' | 'repository'>,
  name: string,
): Promise<TagView> {
  const target = isRefName(name) ? await findTagTarget(access.repository, name) : null
  const [tag] = target === null ? [] : await describeTags(database, access, [{ name, target }])
  if (!tag) throw notFound('Tag')
  return tag
}

/**
 * Returns the kind of a tag's signature.
 *
 * @throws DomainError not-found, also for a signature of an unknown kind
 */
export async function readTagSignature({ repository }: ProjectCall, name: string): Promise<SignatureKind> {
  const target = isRefName(name) ? await findTagTarget(repository, name) : null
  if (target === null) throw notFound('Tag')
  // A lightweight tag has no signature, even when its commit has one.
  if ((await findCommit(repository, target))?.id === target) throw notFound('Signature')
  return readSignature(repository, target)
}

async function describeTags(
  database: Database,
  { project, repository }: Pick<ProjectCall, 'project' | 'repository'>,
  references: readonly Reference[],
): Promise<TagView[]> {
  const names = references.map(({ name }) => name)
  const [annotations, protections, releases] = await Promise.all([
    readAnnotations(repository, names),
    listProtectedTags(database, project.id),
    findDescriptionsOfTags(database, project.id, names),
  ])
  const covering = compileProtections(protections)
  return Promise.all(
    references.map(async ({ name, target }) => {
      const { message = '', taggedSeconds = null } = annotations.get(name) ?? {}
      return {
        name,
        target,
        commit: await findCommit(repository, target),
        message: message.trimEnd(),
        taggedAt: taggedSeconds === null ? null : new Date(taggedSeconds * 1000),
        isProtected: covering(name).length > 0,
        release: releases.has(name) ? { description: releases.get(name) ?? null } : null,
      }
    }),
  )
}

interface CreateTagCommand {
  name: string
  /** Branch, tag or hash of the commit. */
  start: string
  /** Empty: the tag is a lightweight tag. */
  message: string
}

/**
 * Creates a tag of a commit; the caller is the tagger of an annotated tag.
 *
 * @throws DomainError invalid for a name that no tag may have, a protected name that the caller may not
 *   create, a start that names no commit, and a tag that exists
 */
export async function createTag(
  deps: ReferenceDependencies,
  access: ProjectCall<Caller>,
  command: CreateTagCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<TagView> {
  const { project, caller } = access
  if (!(await mayCreateTag(deps.database, access, command.name))) throw invalid(protectedTagRefusal)
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  const change = await planTag(access, command)
  await addTag(access, change, recordIntent)
  await publish([change])
  return getTag(deps.database, access, command.name)
}

/**
 * Checks a new tag, except for its protections, and stores the object of an annotated tag.
 *
 * @returns the change of the reference, for {@link addTag}
 * @throws DomainError as createTag, except for protections
 */
export async function planTag(
  { project, repository, caller }: ProjectCall<Caller>,
  { name, start, message }: CreateTagCommand,
): Promise<RefChange> {
  if (isObjectId(name)) throw invalid('You cannot create a tag with a SHA-1 or SHA-256 tag name.')
  if (!isNewRefName(name)) throw invalid('Tag name invalid')
  if (name === project.defaultBranch) throw invalid('You cannot use default branch name to create a tag')
  if ((await findTagTarget(repository, name)) !== null) throw invalid(`Tag ${excerpt(name)} already exists`)
  const commit = await findCommit(repository, start)
  if (!commit) throw invalid(`Target ${excerpt(start)} is invalid`)
  const isAnnotated = message.trim() !== ''
  const target = isAnnotated
    ? await writeTag(repository, { name, target: commit.id, tagger: signatureOf(caller.user), message })
    : commit.id
  return { ref: tagRef(name), before: zeroId, after: target }
}

/** Creates the reference of a tag. @throws DomainError invalid when it exists */
export async function addTag(
  { repository }: ProjectCall,
  { ref, after }: RefChange,
  recordIntent: RecordIntent,
): Promise<void> {
  if (await moveReference(repository, { ref, from: null, to: after, recordIntent })) return
  throw invalid(`Tag ${excerpt(shortRefName(ref))} already exists`)
}

/**
 * Deletes a tag and its release.
 *
 * @param unmodifiedSinceMs the date of the tag, or of its commit for a lightweight tag, must not be later;
 *   NaN: no check
 * @throws DomainError not-found; forbidden for a protected tag; precondition-failed; conflict when the tag
 *   moves meanwhile
 */
export async function deleteTag(
  deps: ReferenceDependencies,
  access: ProjectCall<Caller>,
  name: string,
  unmodifiedSinceMs: number,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<void> {
  const { project, repository, level, caller } = access
  const { target, taggedAt, commit, isProtected } = await getTag(deps.database, access, name)
  if (isProtected && level < accessLevels.maintainer) {
    throw forbidden(
      'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
    )
  }
  requireUnmodifiedSince(taggedAt ?? new Date((commit?.committer.seconds ?? 0) * 1000), unmodifiedSinceMs)
  const ref = tagRef(name)
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  if (!(await moveReference(repository, { ref, from: target, to: null, recordIntent }))) {
    throw conflict(`The tag ${excerpt(name)} was changed meanwhile. Please refresh and try again`)
  }
  await publish([{ ref, before: target, after: zeroId }])
}
