import { inTransaction, violatedUniqueIndex } from '@switchyard/db'
import { conflict, unprocessable } from '@switchyard/domain'
import type { Caller, RefChange } from '@switchyard/domain/access'
import { isRefName, shortRefName } from '@switchyard/domain/commit'
import { type ReleaseLinkFields, validateLink, validateRelease } from '@switchyard/domain/release'
import { findTagTarget, moveReference } from '@switchyard/git-storage/references'
import type { RecordIntent } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { beginChange, type ReferenceDependencies } from '../../repository/references/references.js'
import { addTag, planTag } from '../../repository/tags/tags.js'
import {
  announceRelease,
  describeRelease,
  enqueueReleaseHook,
  findCommitForHook,
  type ReleaseView,
  requireTagRight,
} from './releases.js'
import type { ReleaseWithLinks } from './store.js'
import * as store from './store.js'

interface CreateReleaseCommand {
  tag: string
  /** Empty: a tag that is created for the release is a lightweight tag. */
  tagMessage: string
  /** Branch, tag or hash for a tag that does not exist yet. */
  start: string | undefined
  /** Undefined: the name of the tag is used. */
  name: string | undefined
  description: string | undefined
  /** Undefined: now. */
  releasedAt: Date | undefined
  links: ReleaseLinkFields[]
}

/**
 * Creates a release of a tag. A missing tag is created after everything else has been checked, and removed
 * again when the release cannot be stored.
 *
 * @throws DomainError forbidden when the caller may not create this tag; conflict when the tag has a release;
 *   invalid for texts and links that do not fit, and as createTag; unprocessable when the tag is missing and
 *   there is no start
 */
export async function createRelease(
  deps: ReferenceDependencies,
  access: ProjectCall<Caller>,
  command: CreateReleaseCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<ReleaseView> {
  const { database } = deps
  const { project, caller } = access
  const { tag, name = tag, description = null, releasedAt = new Date(), links } = command
  await requireTagRight(database, access, tag)
  if (await store.findRelease(database, project.id, tag)) throw conflict('Release already exists')
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
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  const missing = await planMissingTag(access, command)
  let made = await addMissingTag(access, missing, recordIntent)
  let release: ReleaseWithLinks
  try {
    const commit = await findCommitForHook(database, access, tag)
    // git may wait for a slot longer than a transaction may last, so the tag is created before the
    // transaction.
    release = await inTransaction(database, async (transaction) => {
      const stored = await store.createRelease(transaction, fields)
      const hook = { release: stored, action: 'create', baseUrl, commit } as const
      await enqueueReleaseHook(transaction, access, hook)
      return stored
    })
  } catch (error) {
    made = await removeUnreleased(deps, access, made)
    if (violatedUniqueIndex(error) === null) throw error
    throw conflict('Release already exists', { cause: error })
  } finally {
    // Webhooks are notified of a tag that stays, even when the database is unreachable afterwards.
    if (made !== null) await publish([made])
  }
  announceRelease(deps.messages, release, 'create')
  return describeRelease(access, release)
}

/** Plans the tag of a release. @returns null when the tag exists */
async function planMissingTag(
  access: ProjectCall<Caller>,
  { tag, tagMessage, start }: CreateReleaseCommand,
): Promise<RefChange | null> {
  const exists = async () => isRefName(tag) && (await findTagTarget(access.repository, tag)) !== null
  if (await exists()) return null
  if (start === undefined) throw unprocessable('Ref is not specified')
  try {
    return await planTag(access, { name: tag, start, message: tagMessage })
  } catch (error) {
    // Another request may have created the tag meanwhile.
    if (await exists()) return null
    throw error
  }
}

/** @returns the change of this request; null when the tag exists, or another request created it meanwhile */
async function addMissingTag(
  access: ProjectCall<Caller>,
  missing: RefChange | null,
  recordIntent: RecordIntent,
): Promise<RefChange | null> {
  if (missing === null) return null
  try {
    await addTag(access, missing, recordIntent)
    return missing
  } catch (error) {
    if ((await findTagTarget(access.repository, tagNameOf(missing))) === null) throw error
    return null
  }
}

/**
 * Removes the tag that was created for a release that could not be stored. The tag stays when it has a
 * release, which another request or a commit without an answer has stored, and when the database cannot tell.
 *
 * @returns the change when it stays, null otherwise
 */
async function removeUnreleased(
  { database, git, logger }: ReferenceDependencies,
  { project }: ProjectCall,
  made: RefChange | null,
): Promise<RefChange | null> {
  if (made === null) return null
  const { ref, after } = made
  try {
    if ((await store.findRelease(database, project.id, tagNameOf(made))) !== null) return made
    // The signal of the request is not used, because the tag is removed even when the client disconnects.
    const isRemoved = await moveReference(git.open(project), { ref, from: after, to: null })
    return isRemoved ? null : made
  } catch (err) {
    logger.warn({ err, project_id: project.id }, 'could not remove the tag of a release that is not stored')
    return made
  }
}

const tagNameOf = ({ ref }: RefChange): string => shortRefName(ref)
