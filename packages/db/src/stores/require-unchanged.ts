import type { Precondition } from '@switchyard/domain'
import type { DatabaseOrTransaction } from '../client.js'
import { Prisma } from '../generated/client.js'

/** A table whose rows users change, with the column `updated_at`. */
type ChangedTable =
  | 'broadcast_messages'
  | 'environments'
  | 'freeze_periods'
  | 'impact_rules'
  | 'project_members'
  | 'projects'
  | 'releases'
  | 'saved_views'
  | 'users'
  | 'webhooks'

/**
 * Locks a row until the transaction ends, and checks what a request requires of it, so that of two changes of the same version
 * only the first one is made. Without a precondition it does nothing. A row that does not exist is left to the caller.
 *
 * @param key column → value
 * @throws DomainError precondition-failed
 */
export async function requireUnchanged(
  { prisma }: DatabaseOrTransaction,
  table: ChangedTable,
  key: Record<string, number | bigint | string>,
  precondition: Precondition | undefined,
): Promise<void> {
  if (!precondition) return
  const conditions = Object.entries(key).map(
    ([column, value]) => Prisma.sql`${Prisma.raw(column)} = ${value}`,
  )
  const [row] = await prisma.$queryRaw<{ updated_at: Date }[]>`SELECT updated_at FROM ${Prisma.raw(table)}
    WHERE ${Prisma.join(conditions, ' AND ')} FOR NO KEY UPDATE`
  if (row) precondition(row.updated_at)
}
