import type { Caller, JobIdentity, Scope } from '@switchyard/domain/access'
import type { DatabaseOrTransaction } from '../client.js'
import { Prisma } from '../generated/client.js'

interface CallerRow {
  userId: number
  username: string
  name: string
  email: string
  admin: boolean
  state: string
  tokenId: number
  scopes: Scope[]
  tenants: string[]
  projectId: number | null
  job: JobIdentity | null
}

interface SessionCallerRow extends CallerRow {
  sessionId: number
  expiresAt: Date
  provider: string | null
}

const callerColumns = Prisma.sql`u.id AS "userId", u.username, u.name, u.email, u.admin, u.state,
  t.id AS "tokenId", t.scopes, t.tenants, t.project_id AS "projectId", t.job`

/**
 * The token's user, and the user who knows the secret of a project token: its creator, otherwise the owner of
 * the project.
 */
const tokenUsers = Prisma.sql`JOIN users u ON u.id = t.user_id LEFT JOIN users creator ON creator.id = t.created_by
  LEFT JOIN projects p ON p.id = t.project_id LEFT JOIN users owner ON owner.id = p.owner_id`

const tokenWorks = Prisma.sql`t.revoked_at IS NULL
  AND (t.expires_at IS NULL OR t.expires_at >= (now() AT TIME ZONE 'UTC')::date)
  AND (t.ends_at IS NULL OR t.ends_at > now())
  AND u.state = 'active' AND coalesce(creator.state, owner.state, u.state) = 'active'`

/**
 * Finds the caller of the token with this SHA-256. Null when there is no such token, when the token is
 * revoked or expired, or when its user is blocked. A project token is also invalid when its creator is
 * blocked, because the creator knows its secret.
 */
export async function findCaller(
  { prisma }: DatabaseOrTransaction,
  tokenHash: Uint8Array<ArrayBuffer>,
): Promise<Caller | null> {
  const [row] = await prisma.$queryRaw<CallerRow[]>`SELECT ${callerColumns}
    FROM personal_access_tokens t ${tokenUsers} WHERE t.token_hash = ${tokenHash} AND ${tokenWorks}`
  return row ? callerOf(row) : null
}

/**
 * Finds the caller whose session has a cookie with this SHA-256. Null when there is no such session, when it
 * has ended, and when its token is invalid for {@link findCaller}.
 */
export async function findSessionCaller(
  { prisma }: DatabaseOrTransaction,
  secretHash: Uint8Array<ArrayBuffer>,
): Promise<Caller | null> {
  const [row] = await prisma.$queryRaw<SessionCallerRow[]>`SELECT ${callerColumns},
      s.id AS "sessionId", s.expires_at AS "expiresAt", s.provider
    FROM sessions s JOIN personal_access_tokens t ON t.id = s.token_id ${tokenUsers}
    WHERE s.secret_hash = ${secretHash} AND s.idle_until > now() AND ${tokenWorks}`
  if (!row) return null
  const { sessionId: id, expiresAt, provider } = row
  return { ...callerOf(row), session: { id, expiresAt, provider } }
}

const callerOf = ({ userId, username, name, email, admin, state, ...row }: CallerRow): Caller => ({
  user: { id: userId, username, name, email, admin, state },
  token: {
    id: row.tokenId,
    scopes: row.scopes,
    tenants: row.tenants,
    projectId: row.projectId,
    ...(row.job && { job: row.job }),
  },
})
