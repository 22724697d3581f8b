import type { DatabaseOrTransaction } from '../client.js'

/** Locks a project until the transaction ends, so that two transactions cannot count and add rows of it at the same time. */
export async function lockProjectRow({ prisma }: DatabaseOrTransaction, projectId: number): Promise<void> {
  await prisma.$queryRaw`SELECT 1 FROM projects WHERE id = ${projectId} FOR NO KEY UPDATE`
}
