import type { Precondition } from '@switchyard/domain'
import { rowsOf, type Transaction } from '../sql/locks.js'

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
 * Locks a row until the transaction ends, and checks the precondition of a request, so that only the first of
 * two changes of the same version is made. Does nothing without a precondition. The caller handles a missing
 * row.
 *
 * @param key column → value
 * @throws DomainError precondition-failed
 */
export async function requireUnchanged(
  transaction: Transaction,
  table: ChangedTable,
  key: Record<string, number | bigint | string>,
  precondition: Precondition | undefined,
): Promise<void> {
  if (!precondition) return
  const conditions = Object.keys(key).map((column, index) => `${column} = $${index + 1}`)
  const text = `SELECT updated_at AS "updatedAt" FROM ${table} WHERE ${conditions.join(' AND ')} FOR NO KEY UPDATE`
  const [row] = await rowsOf<{ updatedAt: Date }>(
    transaction,
    { name: `lock-${table}`, text },
    Object.values(key),
  )
  if (row) precondition(row.updatedAt)
}
