import { type Caller, hasExpired, type Scope } from '@switchyard/domain/access'
import type { DatabaseOrTransaction } from '../client.js'

const user = { id: true, username: true, name: true, email: true, admin: true, state: true } as const
const state = { select: { state: true } } as const

/**
 * The holder of the token with this SHA-256. Null when no token has it, when it is revoked or its last day has passed,
 * when its user is blocked, and for a project token when the user who made it is blocked: that user knows its secret.
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
