import type { DatabaseOrTransaction } from '../client.js'

/** Path of a project's bare repository below its storage root; null when there is no such project. */
export async function findDiskPath(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<string | null> {
  const project = await prisma.project.findUnique({ where: { id: projectId }, select: { diskPath: true } })
  return project?.diskPath ?? null
}
