import type { DatabaseOrTransaction, Pooled, Session } from '@switchyard/db'

export interface NewSession {
  tokenId: number
  /** SHA-256 of the cookie's value. */
  secretHash: Uint8Array<ArrayBuffer>
  /** The session ends when it is not used for this time. */
  idleMs: number
  /** The latest end of the session. */
  expiresAt: Date
  /** The provider of single sign-on, and its session there. Unset: the session begins with a token. */
  signIn?: { provider: string; providerSessionId: string | null }
}

const sessionsPerTokenMax = 100

/**
 * Stores a session. When the token has more than {@link sessionsPerTokenMax} sessions, its oldest ones end.
 */
export async function createSession(
  { prisma }: DatabaseOrTransaction,
  { tokenId, secretHash, idleMs, expiresAt, signIn }: NewSession,
): Promise<Session> {
  const idleUntil = new Date(Math.min(Date.now() + idleMs, expiresAt.getTime()))
  const session = await prisma.session.create({
    data: { tokenId, secretHash, idleUntil, expiresAt, ...signIn },
  })
  await prisma.$executeRaw`DELETE FROM sessions WHERE id IN (
    SELECT id FROM sessions WHERE token_id = ${tokenId} ORDER BY id DESC OFFSET ${sessionsPerTokenMax})`
  return session
}

/** @returns whether there was such a session */
export async function deleteSession({ prisma }: DatabaseOrTransaction, id: number): Promise<boolean> {
  const { count } = await prisma.session.deleteMany({ where: { id } })
  return count > 0
}

/** Deletes the sessions of all tokens of these users. */
export async function deleteSessionsOfUsers(
  { prisma }: DatabaseOrTransaction,
  userIds: readonly number[],
): Promise<void> {
  await prisma.session.deleteMany({ where: { token: { userId: { in: [...userIds] } } } })
}

/**
 * Stores the time at which a session was used, at most once a minute, and extends the session by `idleMs`
 * from then.
 */
export async function recordSessionUse({ pool }: Pooled, id: number, idleMs: number): Promise<void> {
  await pool.query({
    name: 'record-session-use',
    text: `UPDATE sessions SET last_used_at = now(),
        idle_until = least(now() + $2 * interval '1 millisecond', expires_at)
      WHERE id = $1 AND idle_until > now() AND last_used_at < now() - interval '1 minute'`,
    values: [id, idleMs],
  })
}
