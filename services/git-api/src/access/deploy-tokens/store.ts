import type { DatabaseOrTransaction, DeployToken, Prisma, Rows } from '@switchyard/db'
import { type Caller, callerOfDeployToken } from '@switchyard/domain/access'

type NewDeployToken = Pick<DeployToken, 'projectId' | 'name' | 'username' | 'expiresAt' | 'createdBy'> & {
  /** SHA-256 of the secret. */
  tokenHash: Uint8Array<ArrayBuffer>
}

export const createDeployToken = (
  { prisma }: DatabaseOrTransaction,
  token: NewDeployToken,
): Promise<DeployToken> => prisma.deployToken.create({ data: token })

export const findDeployToken = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<DeployToken | null> =>
  prisma.deployToken.findUnique({ where: { projectId_id: { projectId, id } } })

interface DeployTokenFilter {
  /** Unset: the tokens of all projects. */
  projectId?: number
  /** true: only tokens that have not expired; false: only expired tokens. */
  active?: boolean | undefined
}

/** Returns one page of deploy tokens, oldest first, and the number of all that match. */
export async function listDeployTokens(
  { prisma }: DatabaseOrTransaction,
  { projectId, active }: DeployTokenFilter,
  rows: Rows,
): Promise<{ tokens: DeployToken[]; total: number }> {
  const now = new Date()
  const where: Prisma.DeployTokenWhereInput = { ...(projectId !== undefined && { projectId }) }
  if (active === true) where.OR = [{ expiresAt: null }, { expiresAt: { gt: now } }]
  if (active === false) where.expiresAt = { lte: now }
  const [tokens, total] = await Promise.all([
    prisma.deployToken.findMany({ where, orderBy: { id: 'asc' }, ...rows }),
    prisma.deployToken.count({ where }),
  ])
  return { tokens, total }
}

/** @returns whether there was such a token */
export async function deleteDeployToken(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<boolean> {
  const { count } = await prisma.deployToken.deleteMany({ where: { projectId, id } })
  return count > 0
}

const state = { select: { state: true } } as const

/**
 * Returns the caller who uses the deploy token with this SHA-256; null when there is no such token, when it
 * has expired, or when the user who created it is blocked.
 */
export async function findDeployCaller(
  { prisma }: DatabaseOrTransaction,
  tokenHash: Uint8Array<ArrayBuffer>,
  now = new Date(),
): Promise<Caller | null> {
  const token = await prisma.deployToken.findUnique({
    where: { tokenHash },
    include: { creator: state, project: { select: { owner: state } } },
  })
  if (!token || (token.expiresAt !== null && token.expiresAt <= now)) return null
  const responsible = token.creator ?? token.project.owner
  return responsible.state === 'active' ? callerOfDeployToken(token) : null
}

/** Lists the ids of the deploy tokens that a user is responsible for, see {@link findDeployCaller}. */
export async function listDeployTokensOf(
  { prisma }: DatabaseOrTransaction,
  userId: number,
): Promise<number[]> {
  const tokens = await prisma.deployToken.findMany({
    where: { OR: [{ createdBy: userId }, { createdBy: null, project: { ownerId: userId } }] },
    select: { id: true },
  })
  return tokens.map(({ id }) => id)
}
