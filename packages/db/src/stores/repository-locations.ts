import type { DatabaseOrTransaction } from '../client.js'

/** The location of the bare repository of a project. */
export interface RepositoryLocation {
  storage: string
  /** Path below the root of the storage. */
  diskPath: string
}

/**
 * Finds the location of a repository.
 *
 * @returns null when there is no such project
 */
export const findRepositoryLocation = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<RepositoryLocation | null> =>
  prisma.project.findUnique({ where: { id: projectId }, select: { storage: true, diskPath: true } })

/** Returns those of the given paths at which a project has its repository, in any storage. */
export async function listKnownDiskPaths(
  { prisma }: DatabaseOrTransaction,
  diskPaths: readonly string[],
): Promise<Set<string>> {
  const where = { diskPath: { in: [...diskPaths] } }
  const known = await prisma.project.findMany({ where, select: { diskPath: true } })
  return new Set(known.map(({ diskPath }) => diskPath))
}

/** Lists the ids of all deleted projects, from the audit log. */
export async function listDestroyedProjects({ prisma }: DatabaseOrTransaction): Promise<number[]> {
  const where = { entityType: 'Project', eventName: 'project_destroyed' }
  const events = await prisma.auditEvent.findMany({ where, select: { entityId: true } })
  return events.map(({ entityId }) => Number(entityId))
}
