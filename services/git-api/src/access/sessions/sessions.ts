import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  type Database,
  inTransaction,
  type PersonalAccessToken,
  type PrismaTransaction,
  type Session,
} from '@switchyard/db'
import { forbidden, unauthenticated } from '@switchyard/domain'
import { type Caller, endOfDay } from '@switchyard/domain/access'
import { type AuthenticateFrom, auditAuthor, type Call, hashToken } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import { findToken } from '../tokens/store.js'
import { createSession, deleteSession, type NewSession } from './store.js'

export interface SessionDependencies {
  database: Database
  sessions: {
    /** Finds the holder of a token, and counts the unknown tokens of each address. */
    authenticate: AuthenticateFrom
    /** A session ends when it is not used for this time. */
    idleMs: number
    /** A session ends after this time at the latest. */
    lifetimeMs: number
    /** Who may begin a session with a token. */
    tokenSignIn: 'everybody' | 'administrators'
  }
}

interface BegunSession {
  session: Session
  /** The value of the cookie, which is not stored. */
  secret: string
}

/**
 * Begins a session with a token, and ends the session that the browser had before.
 *
 * @param token the secret of a token of a user or a project, with any scopes
 * @throws DomainError unauthenticated for a token that does not work; forbidden for a deploy token, which the
 *   API refuses everywhere, and for everybody but administrators where they alone sign in with a token;
 *   rate-limited after too many unknown tokens from the address
 */
export async function signIn(
  { database, sessions }: SessionDependencies,
  token: string,
  call: Call,
): Promise<BegunSession & { holder: Caller }> {
  const holder = await sessions.authenticate(token, call.raw.request.ip ?? '', undefined, () => call.signal)
  if (!holder) throw unauthenticated()
  if (holder.token.deploy) throw forbidden('A deploy token cannot sign in')
  if (sessions.tokenSignIn === 'administrators' && !holder.user.admin)
    throw forbidden('Only administrators sign in with a token: sign in by single sign-on')
  const author = auditAuthor(holder, call)
  const begun = await inTransaction(database, async (transaction) => {
    const stored = await findToken(transaction, holder.token.id)
    if (!stored) throw unauthenticated()
    if (call.caller?.session) await deleteSession(transaction, call.caller.session.id)
    return beginSession(transaction, sessions, { token: stored, author })
  })
  return { holder, ...begun }
}

interface SessionBeginning {
  /** The token that gives the session its rights. The session ends when the token does. */
  token: PersonalAccessToken
  author: AuditAuthor
  /**
   * Set for single sign-on: the provider, its session there, and the latest end of the session. Unset: the
   * session begins with a token.
   */
  signIn?: NonNullable<NewSession['signIn']> & { endsAt: Date }
}

/** Begins a session of a token. */
export async function beginSession(
  transaction: PrismaTransaction,
  { idleMs, lifetimeMs }: Pick<SessionDependencies['sessions'], 'idleMs' | 'lifetimeMs'>,
  { token, author, signIn }: SessionBeginning,
): Promise<BegunSession> {
  const secret = randomBytes(32).toString('base64url')
  const session = await createSession(transaction, {
    tokenId: token.id,
    secretHash: hashToken(secret),
    idleMs,
    expiresAt: earliest(
      new Date(Date.now() + lifetimeMs),
      signIn?.endsAt,
      token.expiresAt && endOfDay(token.expiresAt),
    ),
    ...(signIn && {
      signIn: { provider: signIn.provider, providerSessionId: signIn.providerSessionId },
    }),
  })
  await recordUserEvent(transaction, author, token.userId, 'user_signed_in', {
    session_id: session.id,
    ...(signIn && { provider: signIn.provider }),
  })
  return { session, secret }
}

const earliest = (first: Date, ...others: (Date | null | undefined)[]) =>
  others.reduce<Date>((found, other) => (other && other < found ? other : found), first)

/** Ends the session of the caller, if there is one. */
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
