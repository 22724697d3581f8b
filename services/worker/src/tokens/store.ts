import type { DatabaseOrTransaction } from '@switchyard/db'
import { startOfDay } from '@switchyard/domain/access'

/**
 * Deletes some tokens that expired or were revoked before an instant. Such a token is refused with or without
 * its row.
 *
 * @returns number of deleted tokens
 */
export async function deleteTokensDeadSince(
  { prisma }: DatabaseOrTransaction,
  before: Date,
  rowsMax: number,
): Promise<number> {
  const { count } = await prisma.personalAccessToken.deleteMany({
    where: { OR: [{ expiresAt: { lt: startOfDay(before) } }, { revokedAt: { lt: before } }] },
    limit: rowsMax,
  })
  return count
}

/**
 * Deletes some ended sessions and sessions of revoked tokens. Such sessions are refused with or without a
 * row.
 *
 * @returns number of deleted sessions
 */
export async function deleteDeadSessions(
  { prisma }: DatabaseOrTransaction,
  now: Date,
  rowsMax: number,
): Promise<number> {
  const { count } = await prisma.session.deleteMany({
    where: { OR: [{ idleUntil: { lte: now } }, { token: { revokedAt: { not: null } } }] },
    limit: rowsMax,
  })
  return count
}
