import type { Caller, Scope } from '@switchyard/domain/access'
import type { DatabaseOrTransaction } from '../client.js'

const msPerDay = 86_400_000

/**
 * Who holds the token with this SHA-256. Null when no token has it, when it is revoked or its last day
 * has passed, or when its user is blocked.
 */
export async function findCaller(
  { prisma }: DatabaseOrTransaction,
  tokenHash: Uint8Array<ArrayBuffer>,
  now = new Date(),
): Promise<Caller | null> {
  const token = await prisma.personalAccessToken.findUnique({ where: { tokenHash }, include: { user: true } })
  if (!token || token.revokedAt !== null || token.user.state !== 'active') return null
  if (token.expiresAt !== null && token.expiresAt.getTime() + msPerDay <= now.getTime()) return null
  const { id, username, name, email, admin, state } = token.user
  return {
    user: { id, username, name, email, admin, state },
    token: { id: token.id, scopes: token.scopes as Scope[], projectId: token.projectId },
  }
}
