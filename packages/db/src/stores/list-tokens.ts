import { startOfDay } from '@switchyard/domain/access'
import type { DatabaseOrTransaction } from '../client.js'
import type { PersonalAccessToken, Prisma } from '../generated/client.js'
import { likeText } from '../like-pattern.js'

/** Tokens match when they meet every condition that is set. Times are exclusive. */
export interface TokenFilter {
  userId?: number | undefined
  /** `active`: neither revoked nor expired. */
  state?: 'active' | 'inactive' | undefined
  revoked?: boolean | undefined
  /** Part of the name; upper and lower case are equal. */
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

/** One page of the personal and project tokens, and the number of all tokens that match. */
export async function listTokens(
  { prisma }: DatabaseOrTransaction,
  filter: TokenFilter,
  { column, direction }: TokenOrder,
  rows: { skip: number; take: number },
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
