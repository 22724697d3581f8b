import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  createSession,
  type Database,
  deleteSession,
  findToken,
  inTransaction,
  type Session,
} from '@switchyard/db'
import { forbidden, unauthenticated } from '@switchyard/domain'
import { type Caller, endOfDay } from '@switchyard/domain/access'
import { type AuthenticateFrom, auditAuthor, type Call, hashToken } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../audit/audit.js'

export interface SessionDependencies {
  database: Database
  sessions: {
    /** Finds the holder of a token, and counts the unknown tokens of each address. */
    authenticate: AuthenticateFrom
    /** A session ends when it is not used for this time. */
    idleMs: number
    /** A session ends after this time at the latest. */
    lifetimeMs: number
  }
}

interface SignedIn {
  holder: Caller
  session: Session
  /** The value of the cookie, which is not stored. */
  secret: string
}

/**
 * Begins a session with a token, and ends the session that the browser had before.
 *
 * @param token the secret of a token of a user or a project, with any scopes
 * @throws DomainError unauthenticated for a token that does not work; forbidden for a deploy token, which the API refuses
 *   everywhere; rate-limited after too many unknown tokens from the address
 */
export async function signIn(
  { database, sessions }: SessionDependencies,
  token: string,
  call: Call,
): Promise<SignedIn> {
  const holder = await sessions.authenticate(token, call.raw.request.ip ?? '')
  if (!holder) throw unauthenticated()
  if (holder.token.deploy) throw forbidden('A deploy token cannot sign in')
  const secret = randomBytes(32).toString('base64url')
  const author = auditAuthor(holder, call)
  const session = await inTransaction(database, async (transaction) => {
    const stored = await findToken(transaction, holder.token.id)
    if (!stored) throw unauthenticated()
    if (call.caller?.session) await deleteSession(transaction, call.caller.session.id)
    const began = await createSession(transaction, {
      tokenId: stored.id,
      secretHash: hashToken(secret),
      idleMs: sessions.idleMs,
      expiresAt: earliest(
        new Date(Date.now() + sessions.lifetimeMs),
        stored.expiresAt && endOfDay(stored.expiresAt),
      ),
    })
    await recordUserEvent(transaction, author, holder.user.id, 'user_signed_in', { session_id: began.id })
    return began
  })
  return { holder, session, secret }
}

const earliest = (one: Date, other: Date | null) => (other !== null && other < one ? other : one)

/** Ends the session of the caller; does nothing for a caller without a session. */
export async function signOut(
  database: Database,
  caller: Caller | null,
  author: (signedIn: Caller) => AuditAuthor,
) {
  const session = caller?.session
  if (!session) return
  await inTransaction(database, async (transaction) => {
    if (!(await deleteSession(transaction, session.id))) return
    await recordUserEvent(transaction, author(caller), caller.user.id, 'user_signed_out', {
      session_id: session.id,
    })
  })
}
