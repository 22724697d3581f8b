import type { DatabaseOrTransaction } from '../client.js'

/**
 * Deletes tokens that stopped working before an instant, by their last day or by being revoked. Such a token
 * is refused with or without its row, so no answer of the API changes.
 *
 * @returns how many there were
 */
export async function deleteTokensDeadSince(
  { prisma }: DatabaseOrTransaction,
  before: Date,
): Promise<number> {
  const { count } = await prisma.personalAccessToken.deleteMany({
    where: { OR: [{ expiresAt: { lt: startOfDay(before) } }, { revokedAt: { lt: before } }] },
  })
  return count
}

/** Last days are dates: a token whose last day is the one before this day ended when this day began. */
const startOfDay = (time: Date) => new Date(`${time.toISOString().slice(0, 10)}T00:00:00Z`)
