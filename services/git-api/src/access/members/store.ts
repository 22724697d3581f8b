import {
  type DatabaseOrTransaction,
  type Prisma,
  type PrismaTransaction,
  type ProjectMember,
  type Rows,
  type User,
  unendedMembership,
} from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'

export type MemberWithUser = ProjectMember & { user: User }

export type NewMember = Pick<ProjectMember, 'projectId' | 'userId' | 'accessLevel'> & {
  /** The day on which the membership ends. Unset or null: it has no end. */
  expiresAt?: Date | null
}

/**
 * Adds a member and replaces an expired membership of the same user. Fails with a unique violation when the
 * user is a member already; see `violatedUniqueIndex`.
 */
export async function createMember(
  { prisma }: PrismaTransaction,
  member: NewMember,
): Promise<MemberWithUser> {
  const { projectId, userId } = member
  await prisma.projectMember.deleteMany({ where: { projectId, userId, NOT: unendedMembership() } })
  return prisma.projectMember.create({ data: member, include: { user: true } })
}

export const findMember = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  userId: number,
): Promise<ProjectMember | null> =>
  prisma.projectMember.findFirst({ where: { projectId, userId, ...unendedMembership() } })

export const findMemberWithUser = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  userId: number,
): Promise<MemberWithUser | null> =>
  prisma.projectMember.findFirst({
    where: { projectId, userId, ...unendedMembership() },
    include: { user: true },
  })

export interface MemberChange {
  projectId: number
  userId: number
  /** Memberships above this access level are not changed. */
  levelMax: number
}

/** Changes a member. @returns null when there is no such member at or below `levelMax` */
export async function updateMember(
  { prisma }: DatabaseOrTransaction,
  { projectId, userId, levelMax }: MemberChange,
  changes: Partial<Pick<ProjectMember, 'accessLevel' | 'expiresAt'>>,
): Promise<MemberWithUser | null> {
  const [member] = await prisma.projectMember.updateManyAndReturn({
    where: { projectId, userId, accessLevel: { lte: levelMax }, ...unendedMembership() },
    data: { ...changes, updatedAt: new Date() },
    include: { user: true },
  })
  return member ?? null
}

/** Deletes a member at or below `levelMax` (unset: at any level). @returns whether there was such a member */
export async function deleteMember(
  { prisma }: DatabaseOrTransaction,
  { projectId, userId, levelMax }: Omit<MemberChange, 'levelMax'> & { levelMax?: number },
): Promise<boolean> {
  const { count } = await prisma.projectMember.deleteMany({
    where: { projectId, userId, accessLevel: { lte: levelMax } },
  })
  return count > 0
}

export interface MemberFilter {
  projectId: number
  /** Part of the name or username; case does not matter. Undefined: all members. */
  search: string | undefined
  /** Ids of the users to choose from. Undefined: all members. */
  only?: number[] | undefined
  /** Ids of users to leave out. */
  skipped?: number[] | undefined
}

/** Returns one page of a project's members by user id, and the number of all members that match. */
export async function listMembers(
  { prisma }: DatabaseOrTransaction,
  { projectId, search, only, skipped }: MemberFilter,
  rows: Rows,
): Promise<{ members: MemberWithUser[]; total: number }> {
  const where = {
    projectId,
    ...unendedMembership(),
    userId: { in: only, notIn: skipped },
    ...(search !== undefined && { user: named(search) }),
  }
  const [members, total] = await Promise.all([
    prisma.projectMember.findMany({ where, include: { user: true }, orderBy: { userId: 'asc' }, ...rows }),
    prisma.projectMember.count({ where }),
  ])
  return { members, total }
}

function named(search: string): Prisma.UserWhereInput {
  const part = likeText(search)
  return {
    OR: [
      { name: { contains: part, mode: 'insensitive' } },
      { username: { contains: part, mode: 'insensitive' } },
    ],
  }
}
