import {
  type AuditAuthor,
  deleteMember,
  findToken,
  inTransaction,
  type PersonalAccessToken,
  recordAuditEvent,
  revokeToken as revokeRow,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'

type Needed = Pick<Dependencies, 'database' | 'forgetUsers'>

/**
 * A token that the caller may know of: an administrator any, everybody else their own.
 *
 * @throws DomainError not-found
 */
export async function getTokenFor(
  { database }: Pick<Dependencies, 'database'>,
  { user }: Caller,
  id: number,
): Promise<PersonalAccessToken> {
  const token = await findToken(database, id)
  if (!token || (!user.admin && token.userId !== user.id)) throw notFound()
  return token
}

/** Revokes a token that the caller may know of; does nothing when that has happened before. @throws DomainError not-found */
export async function revokeTokenFor(
  deps: Needed,
  caller: Caller,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  const token = await getTokenFor(deps, caller, id)
  await revoke(deps, token, author)
}

/** Revokes a token of the project; its bot is no member any more. @throws DomainError not-found */
export async function revokeProjectToken(
  deps: Needed,
  projectId: number,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  const token = await findToken(deps.database, id)
  if (token?.projectId !== projectId || !(await revoke(deps, token, author))) throw notFound()
}

/**
 * Refused by this process from now on and by every other one within half a second.
 *
 * @returns false when the token was revoked before
 */
async function revoke(
  { database, forgetUsers }: Needed,
  { id, userId, projectId, name }: PersonalAccessToken,
  author: AuditAuthor,
): Promise<boolean> {
  const isRevoked = await inTransaction(database, async (transaction) => {
    if (!(await revokeRow(transaction, id))) return false
    if (projectId !== null) await deleteMember(transaction, { projectId, userId })
    await recordAuditEvent(transaction, author, {
      ...(projectId === null
        ? { eventName: 'access_token_revoked', entityType: 'User', entityId: userId }
        : { eventName: 'project_access_token_revoked', entityType: 'Project', entityId: projectId }),
      details: { name, revoked_token_id: id },
    })
    return true
  })
  forgetUsers([userId])
  return isRevoked
}
