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
import { getTokenFor } from './tokens.js'

type Needed = Pick<Dependencies, 'database' | 'forgetUsers'>

/** Revokes any token, for administrators, else one of the caller's own; twice is like once. @throws DomainError not-found */
export async function revokeTokenFor(
  deps: Needed,
  caller: Caller,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  const token = await getTokenFor(deps, caller, id)
  await revoke(deps, token, author)
}

/** Revokes a token of the project and removes its bot from the members. @throws DomainError not-found */
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
 * This process refuses the token from now on, other processes within half a second.
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
