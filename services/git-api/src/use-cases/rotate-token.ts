import { findToken, inTransaction, revokeToken } from '@switchyard/db'
import { unauthenticated } from '@switchyard/domain'
import type { Scope } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import { type IssuedToken, issueToken } from './issue-token.js'

const msPerDay = 86_400_000

/**
 * Replaces a token: the old one stops working, the new one has its name and scopes.
 *
 * @param expiresAt last day of the new one; undefined: it lives as many days as the old one was given
 * @throws DomainError unauthenticated when somebody else rotated or revoked it first
 */
export async function rotateToken(
  { database }: Dependencies,
  tokenId: number,
  expiresAt: Date | undefined,
): Promise<IssuedToken> {
  return inTransaction(database, async (transaction) => {
    const old = await findToken(transaction, tokenId)
    if (!old || !(await revokeToken(transaction, tokenId))) throw unauthenticated()
    return issueToken(transaction, {
      userId: old.userId,
      name: old.name,
      scopes: old.scopes as Scope[],
      expiresAt: expiresAt ?? sameLifetime(old),
    })
  })
}

function sameLifetime(old: { createdAt: Date; expiresAt: Date | null }): Date | null {
  if (old.expiresAt === null) return null
  const days = Math.round((old.expiresAt.getTime() - startOfDay(old.createdAt)) / msPerDay)
  return new Date(startOfDay(new Date()) + days * msPerDay)
}

const startOfDay = (time: Date): number => Math.floor(time.getTime() / msPerDay) * msPerDay
