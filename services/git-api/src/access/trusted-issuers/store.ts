import type { DatabaseOrTransaction, PrismaTransaction, TrustedIssuer } from '@switchyard/db'
import { lockName, lockProjectRow, lockRow } from '@switchyard/db/sql'
import type { ClaimPatterns, Scope } from '@switchyard/domain/access'

/**
 * A rule, and the role of its bot in the project; null outside of projects, and for a bot that is no longer a
 * member.
 */
export type TrustedIssuerWithLevel = TrustedIssuer & { accessLevel: number | null }

export interface NewTrustedIssuer {
  /** Null: the jobs act outside of projects. */
  projectId: number | null
  /** The bot as which the jobs act. */
  userId: number
  name: string
  issuer: string
  audience: string
  claims: ClaimPatterns
  scopes: readonly Scope[]
  tenants: readonly string[]
  expiresAt: Date | null
  createdBy: number | null
}

type OwnProject = Pick<NewTrustedIssuer, 'projectId'>

/**
 * Returns the number of rules and locks them until the transaction ends, so that two transactions cannot add
 * rules at the same time.
 */
export async function lockAndCountTrustedIssuers(
  transaction: PrismaTransaction,
  { projectId }: OwnProject,
): Promise<number> {
  if (projectId !== null) await lockProjectRow(transaction, projectId)
  else await lockName(transaction, 'switchyard.trusted_issuers')
  return transaction.prisma.trustedIssuer.count({ where: { projectId } })
}

export const createTrustedIssuer = (
  { prisma }: DatabaseOrTransaction,
  { scopes, tenants, ...rule }: NewTrustedIssuer,
): Promise<TrustedIssuer> =>
  prisma.trustedIssuer.create({ data: { ...rule, scopes: [...scopes], tenants: [...tenants] } })

/** The memberships of a bot. At most one of them is in the project of the rule. */
const withRole = { user: { select: { members: { select: { projectId: true, accessLevel: true } } } } }

type WithMemberships = TrustedIssuer & {
  user: { members: { projectId: number; accessLevel: number }[] }
}

const withLevel = ({ user, ...rule }: WithMemberships): TrustedIssuerWithLevel => ({
  ...rule,
  accessLevel: user.members.find(({ projectId }) => projectId === rule.projectId)?.accessLevel ?? null,
})

/** Lists the rules of a project, or the rules outside of projects, oldest first. */
export async function listTrustedIssuers(
  { prisma }: DatabaseOrTransaction,
  { projectId }: OwnProject,
): Promise<TrustedIssuerWithLevel[]> {
  const rules = await prisma.trustedIssuer.findMany({
    where: { projectId },
    include: withRole,
    orderBy: { id: 'asc' },
  })
  return rules.map(withLevel)
}

export async function findTrustedIssuer(
  { prisma }: DatabaseOrTransaction,
  { projectId }: OwnProject,
  id: number,
): Promise<TrustedIssuerWithLevel | null> {
  const rule = await prisma.trustedIssuer.findFirst({ where: { id, projectId }, include: withRole })
  return rule && withLevel(rule)
}

/** Revokes the tokens that the jobs of a rule have received in exchange. */
export async function revokeTokensOfBot({ prisma }: DatabaseOrTransaction, userId: number): Promise<void> {
  await prisma.personalAccessToken.updateMany({
    where: { userId, revokedAt: null },
    data: { revokedAt: new Date() },
  })
}

/**
 * Returns the rule whose jobs act as a bot, and locks it until the transaction ends, so that it is not
 * removed meanwhile.
 */
export const lockRuleOfBot = (
  transaction: PrismaTransaction,
  userId: number,
): Promise<Pick<TrustedIssuer, 'name' | 'createdBy'> | null> =>
  lockRow(transaction, 'trusted_issuers', { user_id: userId }, 'SHARE', 'name, created_by AS "createdBy"')

/**
 * Stores that an identity token was exchanged, and deletes the records of expired tokens.
 *
 * @returns false when it was exchanged before
 */
export async function rememberExchange(
  { prisma }: DatabaseOrTransaction,
  key: Uint8Array<ArrayBuffer>,
  endsAt: Date,
): Promise<boolean> {
  await prisma.exchangedIdentity.deleteMany({ where: { endsAt: { lt: new Date() } } })
  const { count } = await prisma.exchangedIdentity.createMany({ data: { key, endsAt }, skipDuplicates: true })
  return count > 0
}

/** @returns whether there was such a rule */
export async function deleteTrustedIssuer({ prisma }: DatabaseOrTransaction, id: number): Promise<boolean> {
  const { count } = await prisma.trustedIssuer.deleteMany({ where: { id } })
  return count > 0
}
