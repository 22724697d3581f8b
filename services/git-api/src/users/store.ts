import type { DatabaseOrTransaction, Project, User } from '@switchyard/db'

/** Locks a user until the transaction ends: meanwhile, the user gets no project. Null: there is no such user. */
export async function lockUser({ prisma }: DatabaseOrTransaction, id: number): Promise<User | null> {
  await prisma.$queryRaw`SELECT 1 FROM users WHERE id = ${id} FOR UPDATE`
  return prisma.user.findUnique({ where: { id } })
}

/** The projects that a user owns, oldest first. */
export const listProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<Project[]> =>
  prisma.project.findMany({ where: { ownerId }, orderBy: { id: 'asc' } })

export const countProjectsOfOwner = ({ prisma }: DatabaseOrTransaction, ownerId: number): Promise<number> =>
  prisma.project.count({ where: { ownerId } })

/**
 * Deletes a user without projects, and the user's tokens, sessions, memberships, saved views, locks and identities. What belongs to projects
 * stays and names nobody. What lets in whoever the user has told a secret goes as well: project and deploy tokens that the user made,
 * and rules that trust CI jobs.
 *
 * @param bots those of the user's project tokens and rules
 */
export async function deleteUser(
  { prisma }: DatabaseOrTransaction,
  id: number,
  bots: readonly number[],
): Promise<void> {
  await prisma.trustedIssuer.deleteMany({ where: { createdBy: id } })
  await prisma.deployToken.deleteMany({ where: { createdBy: id } })
  await prisma.personalAccessToken.updateMany({
    where: { userId: { in: [...bots] }, revokedAt: null },
    data: { revokedAt: new Date() },
  })
  await prisma.user.delete({ where: { id } })
}

/**
 * Writes `deleted user` and the id wherever the name of a user stands in the audit log and in sagas, and takes the addresses and the
 * subjects at providers away.
 *
 * @param username the last one; null: the user is gone already
 * @returns whether the audit log knew the user by name
 */
export async function eraseUserNames(
  { prisma }: DatabaseOrTransaction,
  id: number,
  username: string | null,
): Promise<boolean> {
  const rows = await prisma.$queryRaw<{ changed: bigint; usernames: string[] }[]>`
    SELECT changed, usernames FROM erase_user_from_audit_log(${id}::int, ${username}::text)`
  const { changed = 0n, usernames = [] } = rows[0] ?? {}
  await prisma.$queryRaw`SELECT erase_user_from_sagas(${id}::int, ${usernames}::text[])::text`
  return changed > 0n
}
