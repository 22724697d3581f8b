import { type AuditAuthor, type Database, inTransaction, onTaken, requireUnchanged } from '@switchyard/db'
import { conflict, forbidden, invalid, notFound, type Precondition } from '@switchyard/domain'
import { dayText, membershipEndProblem } from '@switchyard/domain/access'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { findUser, findUserByUsername } from '../users/store.js'
import {
  createMember,
  deleteMember,
  findMember,
  findMemberWithUser,
  type MemberWithUser,
  updateMember,
} from './store.js'

export { listMembers } from './store.js'

/** @throws DomainError not-found */
export async function getMember(database: Database, { project }: ProjectCall, userId: number) {
  const member = await findMemberWithUser(database, project.id, userId)
  if (!member) throw notFound()
  return member
}

/**
 * Adds a member to the project.
 *
 * @param user an id or a username
 * @throws DomainError forbidden for a level above the caller's; invalid for an end in the past; not-found for
 *   the user; conflict for a member
 */
export async function addMember(
  database: Database,
  { project, level }: ProjectCall,
  { user, accessLevel, expiresAt }: { user: number | string; accessLevel: number; expiresAt: Date | null },
  author: AuditAuthor,
): Promise<MemberWithUser> {
  if (accessLevel > level) throw forbidden()
  requireEnd(expiresAt)
  const found = await (typeof user === 'number'
    ? findUser(database, user)
    : findUserByUsername(database, user))
  if (!found) throw notFound('User')
  const userId = found.id
  return inTransaction(database, async (transaction) => {
    const member = await createMember(transaction, {
      projectId: project.id,
      userId,
      accessLevel,
      expiresAt,
    })
    await recordProjectEvent(transaction, author, project.id, 'member_added', {
      user_id: userId,
      access_level: accessLevel,
      ...(expiresAt && { expires_at: dayText(expiresAt) }),
    })
    return member
  }).catch(onTaken((cause) => conflict('Member already exists', { cause })))
}

function requireEnd(end: Date | null): void {
  const problem = membershipEndProblem(end, new Date())
  if (problem !== null) throw invalid({ expires_at: [problem] })
}

/**
 * Changes the access level and the expiry date of a member.
 *
 * @param change `expiresAt` null: the membership has no end; undefined: the end stays
 * @throws DomainError not-found; precondition-failed; invalid for an end in the past; forbidden for the
 *   project's owner, for a level above the caller's and for members above it
 */
export async function changeMember(
  { database, guards }: ProjectResourceDependencies,
  { project, level }: ProjectCall,
  {
    userId,
    accessLevel,
    expiresAt,
  }: { userId: number; accessLevel: number; expiresAt: Date | null | undefined },
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<MemberWithUser> {
  if (accessLevel > level) throw forbidden()
  requireEnd(expiresAt ?? null)
  const before = await getOtherThanOwner(database, project, userId)
  const changed = await inTransaction(database, async (transaction) => {
    const key = { project_id: project.id, user_id: userId }
    await requireUnchanged(transaction, 'project_members', key, precondition)
    const change = { projectId: project.id, userId, levelMax: level }
    const member = await updateMember(transaction, change, {
      accessLevel,
      ...(expiresAt !== undefined && { expiresAt }),
    })
    if (!member) throw forbidden()
    await recordProjectEvent(transaction, author, project.id, 'member_changed', {
      user_id: userId,
      access_level: accessLevel,
      access_level_before: before.accessLevel,
      ...(expiresAt !== undefined && {
        expires_at: expiresAt && dayText(expiresAt),
        expires_at_before: before.expiresAt && dayText(before.expiresAt),
      }),
    })
    return member
  })
  guards.noteChange(project.id)
  return changed
}

/**
 * @throws DomainError not-found; forbidden for the project's owner and for members above the caller's level
 */
export async function removeMember(
  { database, guards }: ProjectResourceDependencies,
  { project, level }: ProjectCall,
  userId: number,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  const member = await getOtherThanOwner(database, project, userId)
  await inTransaction(database, async (transaction) => {
    const key = { project_id: project.id, user_id: userId }
    await requireUnchanged(transaction, 'project_members', key, precondition)
    const removed = await deleteMember(transaction, { projectId: project.id, userId, levelMax: level })
    if (!removed) throw forbidden()
    await recordProjectEvent(transaction, author, project.id, 'member_removed', {
      user_id: userId,
      access_level: member.accessLevel,
    })
  })
  guards.noteChange(project.id)
}

async function getOtherThanOwner(database: Database, project: ProjectCall['project'], userId: number) {
  const member = await findMember(database, project.id, userId)
  if (!member) throw notFound()
  if (userId === project.ownerId) throw forbidden('A project cannot lose its owner')
  return member
}
