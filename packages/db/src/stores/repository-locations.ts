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
