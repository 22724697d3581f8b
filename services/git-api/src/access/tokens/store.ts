import type { DatabaseOrTransaction, PersonalAccessToken, Pooled, Prisma, Rows } from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'
import { type JobIdentity, type Scope, startOfDay } from '@switchyard/domain/access'

/** Conditions on tokens; a token must meet every condition that is set. Times are exclusive. */
export interface TokenFilter {
  userId?: number | undefined
  /** `active`: neither revoked nor expired. */
  state?: 'active' | 'inactive' | undefined
  revoked?: boolean | undefined
  /** Part of the name; case does not matter. */
  search?: string | undefined
  createdBefore?: Date | undefined
  createdAfter?: Date | undefined
  lastUsedBefore?: Date | undefined
  lastUsedAfter?: Date | undefined
  /** Days. Tokens that never expire match neither condition. */
  expiresBefore?: Date | undefined
  expiresAfter?: Date | undefined
}

export interface TokenOrder {
  column: 'id' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'name'
  direction: 'asc' | 'desc'
}

/** Returns one page of the personal and project tokens, and the number of all tokens that match. */
export async function listTokens(
  { prisma }: DatabaseOrTransaction,
  filter: TokenFilter,
  { column, direction }: TokenOrder,
  rows: Rows,
): Promise<{ tokens: PersonalAccessToken[]; total: number }> {
  const where = whereOf(filter)
  const isNullable = column === 'expiresAt' || column === 'lastUsedAt'
  const first = { [column]: isNullable ? { sort: direction, nulls: 'last' } : direction }
  const [tokens, total] = await Promise.all([
    prisma.personalAccessToken.findMany({ where, orderBy: [first, { id: direction }], ...rows }),
    prisma.personalAccessToken.count({ where }),
  ])
  return { tokens, total }
}

function whereOf(filter: TokenFilter): Prisma.PersonalAccessTokenWhereInput {
  const { state, revoked, search } = filter
  const active = activeAt(new Date())
  return {
    userId: filter.userId,
    // Leaves out the tokens behind sessions of single sign-on, because nobody has their secrets.
    identity: null,
    createdAt: { lt: filter.createdBefore, gt: filter.createdAfter },
    AND: [
      state === 'active' ? active : {},
      state === 'inactive' ? { NOT: active } : {},
      revoked === undefined ? {} : { revokedAt: revoked ? { not: null } : null },
      search ? { name: { contains: likeText(search), mode: 'insensitive' } } : {},
      between('lastUsedAt', filter.lastUsedBefore, filter.lastUsedAfter),
      between('expiresAt', filter.expiresBefore, filter.expiresAfter),
    ],
  }
}

const activeAt = (now: Date): Prisma.PersonalAccessTokenWhereInput => ({
  revokedAt: null,
  OR: [{ expiresAt: null }, { expiresAt: { gte: startOfDay(now) } }],
})

const between = (column: 'lastUsedAt' | 'expiresAt', lt?: Date, gt?: Date) =>
  lt === undefined && gt === undefined ? {} : { [column]: { lt, gt } }

export interface NewToken {
  userId: number
  name: string
  /** The purpose of the token. Unset or null: unknown. */
  description?: string | null | undefined
  /** SHA-256 of the secret. */
  tokenHash: Uint8Array<ArrayBuffer>
  scopes: readonly Scope[]
  /** The only tenants of sagas that the token may access. Unset or empty: every tenant. */
  tenants?: readonly string[]
  /** Last day on which the token works; null: it never expires. */
  expiresAt: Date | null
  /** The project and the creator of a project token. Unset: a personal token. */
  project?: { projectId: number; createdBy: number | null }
  /** The CI job that receives the token, and the expiry time. Unset: the token is of another kind. */
  job?: { identity: JobIdentity; createdBy: number | null; endsAt: Date }
}

export const createToken = (
  { prisma }: DatabaseOrTransaction,
  { project, scopes, tenants = [], job, ...token }: NewToken,
): Promise<PersonalAccessToken> =>
  prisma.personalAccessToken.create({
    data: {
      ...token,
      ...project,
      scopes: [...scopes],
      tenants: [...tenants],
      ...(job && { job: { ...job.identity }, endsAt: job.endsAt, createdBy: job.createdBy }),
    },
  })

export type ProjectTokenWithLevel = PersonalAccessToken & { accessLevel: number | null }

export const findToken = ({ prisma }: DatabaseOrTransaction, id: number) =>
  prisma.personalAccessToken.findUnique({ where: { id } })

export const findTokenByHash = ({ prisma }: DatabaseOrTransaction, tokenHash: Uint8Array<ArrayBuffer>) =>
  prisma.personalAccessToken.findUnique({ where: { tokenHash } })

const withMembership = (projectId: number) => ({
  user: { select: { members: { where: { projectId }, select: { accessLevel: true } } } },
})

type TokenWithMembership = PersonalAccessToken & { user: { members: { accessLevel: number }[] } }

const withLevel = ({ user, ...token }: TokenWithMembership): ProjectTokenWithLevel => ({
  ...token,
  accessLevel: user.members[0]?.accessLevel ?? null,
})

/** Finds a token of the project, even a revoked one. */
export async function findProjectToken(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<ProjectTokenWithLevel | null> {
  const include = withMembership(projectId)
  const token = await prisma.personalAccessToken.findFirst({ where: { id, projectId }, include })
  return token && withLevel(token)
}

/**
 * Returns one page of a project's unrevoked tokens, without those of CI jobs, newest first, and the number of
 * all of them.
 */
export async function listProjectTokens(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  rows: Rows,
): Promise<{ tokens: ProjectTokenWithLevel[]; total: number }> {
  const where = { projectId, revokedAt: null, endsAt: null }
  const include = withMembership(projectId)
  const [tokens, total] = await Promise.all([
    prisma.personalAccessToken.findMany({ where, include, orderBy: { id: 'desc' }, ...rows }),
    prisma.personalAccessToken.count({ where }),
  ])
  return { tokens: tokens.map(withLevel), total }
}

/**
 * Lists the ids of the bot users of the unrevoked project tokens and of the trusted issuers that a user
 * created.
 */
export async function listBotsOfCreator(
  { prisma }: DatabaseOrTransaction,
  createdBy: number,
): Promise<number[]> {
  const made = { OR: [{ createdBy }, { createdBy: null, project: { ownerId: createdBy } }] }
  const select = { userId: true }
  const tokens = await prisma.personalAccessToken.findMany({
    where: { ...made, projectId: { not: null }, revokedAt: null },
    select,
  })
  const trusted = await prisma.trustedIssuer.findMany({ where: made, select })
  return [...new Set([...tokens, ...trusted].map(({ userId }) => userId))]
}

/** Deletes a user's tokens of this name, except the token with this hash. */
export async function deleteOtherTokens(
  { prisma }: DatabaseOrTransaction,
  { userId, name, tokenHash }: Pick<NewToken, 'userId' | 'name' | 'tokenHash'>,
): Promise<number> {
  const { count } = await prisma.personalAccessToken.deleteMany({
    where: { userId, name, tokenHash: { not: tokenHash } },
  })
  return count
}

/** @returns false when the token was revoked before */
export async function revokeToken({ prisma }: DatabaseOrTransaction, id: number): Promise<boolean> {
  const { count } = await prisma.personalAccessToken.updateMany({
    where: { id, revokedAt: null },
    data: { revokedAt: new Date() },
  })
  return count > 0
}

/** Stores the time at which a token was used, at most once a minute. */
export async function recordTokenUse({ pool }: Pooled, id: number): Promise<void> {
  await pool.query({
    name: 'record-token-use',
    text: `UPDATE personal_access_tokens SET last_used_at = now()
      WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    values: [id],
  })
}
