import type {
  DatabaseOrTransaction,
  Identity,
  PersonalAccessToken,
  PrismaTransaction,
  ProjectMember,
  User,
} from '@switchyard/db'
import { likeText, lockName, lockUserRow } from '@switchyard/db/sql'
import { startOfDay } from '@switchyard/domain/access'

export type NewIdentity = Pick<Identity, 'userId' | 'provider' | 'issuer' | 'subject'>
type IdentityKey = Pick<Identity, 'issuer' | 'subject'>
export type IdentityOfUser = Identity & { user: User; token: PersonalAccessToken | null }

/**
 * Waits until no other sign-in of the same account at the provider is under way. The lock ends with the
 * transaction.
 */
export const lockIdentity = (
  transaction: PrismaTransaction,
  { issuer, subject }: IdentityKey,
): Promise<void> => lockName(transaction, `switchyard.identity ${issuer} ${subject}`)

const include = { user: true, token: true } as const

export const findIdentity = (
  { prisma }: DatabaseOrTransaction,
  { issuer, subject }: IdentityKey,
): Promise<IdentityOfUser | null> =>
  prisma.identity.findUnique({ where: { issuer_subject: { issuer, subject } }, include })

/** Binds an account at the provider to a user. Fails with a unique violation when it is bound already. */
export const createIdentity = (
  { prisma }: DatabaseOrTransaction,
  identity: NewIdentity,
): Promise<IdentityOfUser> => prisma.identity.create({ data: identity, include })

export const updateIdentity = (
  { prisma }: DatabaseOrTransaction,
  id: number,
  changes: Partial<Pick<Identity, 'tokenId' | 'gaveAdmin' | 'lastSignedInAt'>>,
): Promise<IdentityOfUser> => prisma.identity.update({ where: { id }, data: changes, include })

export const listIdentities = (
  { prisma }: DatabaseOrTransaction,
  userIds: readonly number[],
): Promise<Identity[]> =>
  prisma.identity.findMany({ where: { userId: { in: [...userIds] } }, orderBy: { id: 'asc' } })

/** Returns whether a token belongs to sign-ins by a provider. Nobody knows the secret of such a token. */
export async function isTokenOfSignIn({ prisma }: DatabaseOrTransaction, tokenId: number): Promise<boolean> {
  return (await prisma.identity.count({ where: { tokenId } })) > 0
}

export const findIdentityOfUser = (
  { prisma }: DatabaseOrTransaction,
  userId: number,
  id: number,
): Promise<IdentityOfUser | null> => prisma.identity.findFirst({ where: { id, userId }, include })

/**
 * Returns whether the user of an identity can sign in without it, by another provider or with a token.
 * Requests that remove ways to sign in of the same user wait for each other.
 *
 * @param tokensCount whether the user signs in with tokens
 */
export async function hasOtherWayIn(
  transaction: PrismaTransaction,
  { id, userId }: Pick<Identity, 'id' | 'userId'>,
  { providers, tokensCount }: { providers: readonly string[]; tokensCount: boolean },
): Promise<boolean> {
  await lockUserRow(transaction, userId)
  const { prisma } = transaction
  const others = { userId, id: { not: id }, provider: { in: [...providers] } }
  if ((await prisma.identity.count({ where: others })) > 0) return true
  const isValid = { OR: [{ expiresAt: null }, { expiresAt: { gte: startOfDay(new Date()) } }] }
  const own = { userId, revokedAt: null, projectId: null, endsAt: null, identity: null }
  return tokensCount && (await prisma.personalAccessToken.count({ where: { ...own, ...isValid } })) > 0
}

/** Deletes an identity, its token and with it its sessions. */
export async function deleteIdentity(
  { prisma }: DatabaseOrTransaction,
  { id, tokenId }: Pick<Identity, 'id' | 'tokenId'>,
): Promise<void> {
  await prisma.identity.delete({ where: { id } })
  if (tokenId !== null) await prisma.personalAccessToken.deleteMany({ where: { id: tokenId } })
}

/** Returns whether a session is still open. */
export async function isSessionOpen({ prisma }: DatabaseOrTransaction, id: number): Promise<boolean> {
  return (await prisma.session.count({ where: { id, idleUntil: { gt: new Date() } } })) > 0
}

interface EndedSession {
  id: number
  token: PersonalAccessToken & { user: User }
}

/**
 * Deletes the sessions of a subject that began by a provider, or the one session that the provider names.
 *
 * @returns the deleted sessions
 */
export async function deleteSessionsOfProvider(
  { prisma }: DatabaseOrTransaction,
  given: { issuer: string; subject: string | undefined; sessionId: string | undefined; begunUntil: Date },
): Promise<EndedSession[]> {
  const { issuer, subject, sessionId, begunUntil } = given
  const sessions = await prisma.session.findMany({
    where: {
      createdAt: { lte: begunUntil },
      token: { identity: { issuer, ...(subject !== undefined && { subject }) } },
      ...(sessionId !== undefined && { providerSessionId: sessionId }),
    },
    select: { id: true, token: { include: { user: true } } },
  })
  await prisma.session.deleteMany({ where: { id: { in: sessions.map(({ id }) => id) } } })
  return sessions
}

/** A role in the projects whose path matches the pattern, in which `*` matches any characters. */
export interface GroupRole {
  pattern: string
  level: number
}

/** Largest number of projects in which groups grant roles. */
const projectsMax = 1000

/** Returns the highest role that the rules grant in each project that the user does not own. */
export async function listRolesByRules(
  { prisma }: DatabaseOrTransaction,
  userId: number,
  rules: readonly GroupRole[],
): Promise<Map<number, number>> {
  if (rules.length === 0) return new Map()
  const patterns = rules.map(({ pattern }) => likeText(pattern).replaceAll('*', '%'))
  const levels = rules.map(({ level }) => level)
  const rows = await prisma.$queryRaw<{ id: number; level: number }[]>`SELECT p.id, max(r.level) AS level
    FROM projects p JOIN unnest(${patterns}::text[], ${levels}::integer[]) AS r (pattern, level)
      ON p.path_key LIKE r.pattern
    WHERE p.owner_id <> ${userId} GROUP BY p.id ORDER BY p.id LIMIT ${projectsMax}`
  return new Map(rows.map(({ id, level }) => [id, level]))
}

/** Lists the memberships that the groups of an identity have granted. */
export const listGivenRoles = (
  { prisma }: DatabaseOrTransaction,
  identityId: number,
): Promise<ProjectMember[]> => prisma.projectMember.findMany({ where: { identityId } })

/**
 * Makes the user of an identity a member of projects, and replaces expired memberships.
 *
 * @returns the projects in which the user was no member
 */
export async function giveRoles(
  { prisma }: DatabaseOrTransaction,
  { id, userId }: Pick<Identity, 'id' | 'userId'>,
  roles: ReadonlyMap<number, number>,
): Promise<number[]> {
  const projects = [...roles.keys()]
  const ended = { expiresAt: { lte: startOfDay(new Date()) } }
  await prisma.projectMember.deleteMany({ where: { userId, projectId: { in: projects }, ...ended } })
  const given = await prisma.projectMember.createManyAndReturn({
    data: [...roles].map(([projectId, accessLevel]) => ({ projectId, userId, accessLevel, identityId: id })),
    skipDuplicates: true,
    select: { projectId: true },
  })
  return given.map(({ projectId }) => projectId)
}

/** Changes the role of a member. @returns false for a membership that somebody has removed */
export async function changeRole(
  { prisma }: DatabaseOrTransaction,
  { projectId, userId }: ProjectMember,
  accessLevel: number,
): Promise<boolean> {
  const data = { accessLevel, updatedAt: new Date() }
  return (await prisma.projectMember.updateMany({ where: { projectId, userId }, data })).count > 0
}

/** Deletes a membership. @returns false for a membership that somebody has removed */
export async function takeRole(
  { prisma }: DatabaseOrTransaction,
  { projectId, userId }: ProjectMember,
): Promise<boolean> {
  return (await prisma.projectMember.deleteMany({ where: { projectId, userId } })).count > 0
}
