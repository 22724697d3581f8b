import {
  type AuditAuthor,
  type Database,
  inTransaction,
  onTaken,
  type ProtectedTag,
  type Rows,
} from '@switchyard/db'
import { invalid, notFound, tooLongText, unprocessable } from '@switchyard/domain'
import {
  compileProtections,
  coveredAllowsTag,
  lowestLevel,
  protectionNameLengthMax,
  protectionsPerProjectMax,
} from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import type { NewProtectedTag } from './store.js'
import * as store from './store.js'

export async function listProtectedTags(
  database: Database,
  { project }: ProjectCall,
  { skip, take }: Rows,
): Promise<{ tags: ProtectedTag[]; total: number }> {
  const found = await store.listProtectedTags(database, project.id)
  return { tags: found.slice(skip, skip + take), total: found.length }
}

/** @param name the name or the pattern as it was protected @throws DomainError not-found */
export async function getProtectedTag(
  database: Database,
  { project }: ProjectCall,
  name: string,
): Promise<ProtectedTag> {
  const tag = await store.findProtectedTag(database, project.id, name)
  if (!tag) throw notFound()
  return tag
}

/**
 * Protects a tag, or every tag that a pattern matches.
 *
 * @throws DomainError invalid for a name that no tag can have or that is too long, and when the project has
 *   too many protections; unprocessable when the name is protected already
 */
export async function protectTag(
  database: Database,
  { project }: ProjectCall,
  given: Omit<NewProtectedTag, 'projectId'>,
  author: AuditAuthor,
): Promise<ProtectedTag> {
  const { name, createLevels } = given
  if (name.length > protectionNameLengthMax) {
    throw invalid({ name: [tooLongText(protectionNameLengthMax)] })
  }
  if (!isRefName(name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid tag name'] })
  return inTransaction(database, async (transaction) => {
    if ((await store.lockAndCountProtectedTags(transaction, project.id)) >= protectionsPerProjectMax) {
      throw invalid(`A project can have ${protectionsPerProjectMax} protected tags at most`)
    }
    const protectedTag = await store.createProtectedTag(transaction, { ...given, projectId: project.id })
    await recordProjectEvent(transaction, author, project.id, 'protected_tag_created', {
      name,
      create_access_level: lowestLevel(createLevels),
    })
    return protectedTag
  }).catch(onTaken((cause) => unprocessable('Name has already been taken', { cause })))
}

/** Removes the protection; the tags themselves stay. @throws DomainError not-found */
export async function unprotectTag(
  database: Database,
  { project }: ProjectCall,
  name: string,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    if (!(await store.deleteProtectedTag(transaction, project.id, name))) throw notFound()
    await recordProjectEvent(transaction, author, project.id, 'protected_tag_removed', { name })
  })
}

export const protectedTagRefusal = 'You are not allowed to create this tag as it is protected.'

/** Returns whether the protections of tags let the caller create a tag of this name. */
export async function mayCreateTag(
  database: Database,
  { project, level }: ProjectCall,
  name: string,
): Promise<boolean> {
  return coveredAllowsTag(
    level,
    compileProtections(await store.listProtectedTags(database, project.id))(name),
  )
}
