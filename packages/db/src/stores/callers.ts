import { type Caller, hasExpired, type Scope } from '@switchyard/domain/access'
import type { DatabaseOrTransaction } from '../client.js'

const user = { id: true, username: true, name: true, email: true, admin: true, state: true } as const
const state = { select: { state: true } } as const

/**
 * The caller who uses the token with this SHA-256. Null when there is no such token, when the token is revoked or expired,
 * and when its user is blocked. A project token is also invalid when its creator is blocked, who knows its secret.
 */
export async function findCaller(
  { prisma }: DatabaseOrTransaction,
  tokenHash: Uint8Array<ArrayBuffer>,
  now = new Date(),
): Promise<Caller | null> {
  const token = await prisma.personalAccessToken.findUnique({
    where: { tokenHash },
    include: { user: { select: user }, creator: state, project: { select: { owner: state } } },
  })
  if (!token || token.revokedAt !== null || hasExpired(token.expiresAt, now)) return null
  const creator = token.creator ?? token.project?.owner ?? token.user
  if (token.user.state !== 'active' || creator.state !== 'active') return null
  return {
    user: token.user,
    token: { id: token.id, scopes: token.scopes as Scope[], projectId: token.projectId },
  }
}
