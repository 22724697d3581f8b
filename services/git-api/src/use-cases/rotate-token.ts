import { type AuditAuthor, findToken, inTransaction, recordAuditEvent, revokeToken } from '@switchyard/db'
import { unauthenticated } from '@switchyard/domain'
import type { Scope } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import { type IssuedToken, issueToken } from './issue-token.js'

const msPerDay = 86_400_000

/**
 * Replaces the token that the request came with: the old one stops working, the new one has its name and scopes.
 *
 * @param expiresAt last day of the new one; undefined: it lives as many days as the old one was given
 * @throws DomainError unauthenticated when somebody else rotated or revoked it first
 */
export async function rotateToken(
  { database }: Dependencies,
  expiresAt: Date | undefined,
  author: AuditAuthor,
): Promise<IssuedToken> {
  return inTransaction(database, async (transaction) => {
    const old = await findToken(transaction, author.tokenId)
    if (!old || !(await revokeToken(transaction, old.id))) throw unauthenticated()
    const rotated = await issueToken(transaction, {
      userId: old.userId,
      name: old.name,
      scopes: old.scopes as Scope[],
      expiresAt: expiresAt ?? sameLifetime(old),
      ...(old.projectId !== null && { projectId: old.projectId }),
    })
    await recordAuditEvent(transaction, author, {
      eventName: 'access_token_rotated',
      entityType: 'User',
      entityId: old.userId,
      details: { name: old.name },
    })
    return rotated
  })
}

function sameLifetime(old: { createdAt: Date; expiresAt: Date | null }): Date | null {
  if (old.expiresAt === null) return null
  const days = Math.round((old.expiresAt.getTime() - startOfDay(old.createdAt)) / msPerDay)
  return new Date(startOfDay(new Date()) + days * msPerDay)
}

const startOfDay = (time: Date): number => Math.floor(time.getTime() / msPerDay) * msPerDay
