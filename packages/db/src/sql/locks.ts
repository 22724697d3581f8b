import { notFound } from '@switchyard/domain'
import type pg from 'pg'
import { query, type Transaction } from './transaction.js'

const lockByName = {
  name: 'lock-name',
  text: 'SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($1, 0))',
}

/**
 * Locks the row with this key until the transaction ends. `SHARE`: no other transaction changes the row.
 * `NO KEY UPDATE`: none changes it or locks it in one of these ways. `UPDATE`: in addition, none adds a row
 * that refers to it.
 *
 * @param key column → value; at most one row has it
 * @param columns SQL of the columns to return
 * @returns null when there is no such row
 */
export async function lockRow<Row extends object>(
  transaction: Transaction,
  table: string,
  key: Record<string, number | bigint | string | Uint8Array>,
  strength: 'SHARE' | 'NO KEY UPDATE' | 'UPDATE',
  columns = '1',
): Promise<Row | null> {
  const keys = Object.keys(key)
  const conditions = keys.map((column, index) => `${column} = $${index + 1}`)
  const text = `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} FOR ${strength}`
  // A connection prepares a statement with a name once. PostgreSQL cuts names at 63 bytes, so a statement
  // with columns has none.
  const name = columns === '1' ? { name: `lock ${table} ${keys} ${strength}` } : {}
  const [row] = await query<Row>(transaction, { ...name, text, values: Object.values(key) })
  return row ?? null
}

/**
 * Locks a project until the transaction ends, so that no two transactions count and add its rows at the same
 * time.
 *
 * @throws DomainError not-found
 */
export async function lockProjectRow(transaction: Transaction, projectId: number): Promise<void> {
  if (!(await lockRow(transaction, 'projects', { id: projectId }, 'NO KEY UPDATE'))) throw notFound('Project')
}

/** Locks a user in the same way. A user who was deleted meanwhile is not locked. */
export async function lockUserRow(transaction: Transaction, userId: number): Promise<void> {
  await lockRow(transaction, 'users', { id: userId }, 'NO KEY UPDATE')
}

/**
 * Locks a thing without a row, by a name, until the transaction ends. Waits for another transaction with the
 * lock.
 *
 * @param name begins with the thing that is locked, such as `switchyard.trusted_issuers`, so that it is
 * unique
 */
export async function lockName(transaction: Transaction, name: string): Promise<void> {
  await query(transaction, { ...lockByName, values: [name] })
}

/**
 * Locks a name until the connection ends, unless another connection has locked it.
 *
 * @returns whether this connection has the lock
 */
export async function tryLockName(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isLocked"',
    [name],
  )
  return rows[0]?.isLocked === true
}
