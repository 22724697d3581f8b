import type { DatabaseOrTransaction } from '../client.js'

/** Where the bare repository of a project lies. */
export interface RepositoryPlace {
  /** Name of the storage. */
  storage: string
  /** Path below the root of the storage. */
  diskPath: string
}

/** @returns null when there is no such project */
export const findRepositoryPlace = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<RepositoryPlace | null> =>
  prisma.project.findUnique({ where: { id: projectId }, select: { storage: true, diskPath: true } })
