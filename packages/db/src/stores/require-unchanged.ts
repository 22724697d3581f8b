import type { Precondition } from '@switchyard/domain'
import { lockRow } from '../sql/locks.js'
import type { Transaction } from '../sql/transaction.js'

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
  const columns = 'updated_at AS "updatedAt"'
  const row = await lockRow<{ updatedAt: Date }>(transaction, table, key, 'NO KEY UPDATE', columns)
  if (row) precondition(row.updatedAt)
}
