import { notFound } from '@switchyard/domain'
import type pg from 'pg'
import type { DatabaseOrTransaction } from '../client.js'

const text = 'SELECT id FROM projects WHERE id = $1 FOR NO KEY UPDATE'

/**
 * Locks a project until the transaction ends, so that two transactions cannot count and add rows of it at the same time.
 *
 * @param transaction that of Prisma or of plain SQL
 * @throws DomainError not-found
 */
export async function lockProjectRow(
  transaction: DatabaseOrTransaction | pg.PoolClient,
  projectId: number,
): Promise<void> {
  const rows: unknown[] =
    'prisma' in transaction
      ? await transaction.prisma.$queryRawUnsafe(text, projectId)
      : (await transaction.query({ name: 'lock-project', text, values: [projectId] })).rows
  if (rows.length === 0) throw notFound('Project')
}
