import { notFound } from '@switchyard/domain'
import type pg from 'pg'
import type { DatabaseOrTransaction } from '../client.js'

/** A transaction of Prisma or of plain SQL. */
export type Transaction = DatabaseOrTransaction | pg.PoolClient

interface Statement {
  name: string
  text: string
}

const lockProject = { name: 'lock-project', text: 'SELECT id FROM projects WHERE id = $1 FOR NO KEY UPDATE' }
const lockUser = { name: 'lock-user', text: 'SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE' }
const lockByName = {
  name: 'lock-name',
  text: 'SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($1, 0))',
}

/**
 * Locks a project until the transaction ends, so that no two transactions count and add its rows at the same
 * time.
 *
 * @throws DomainError not-found
 */
export async function lockProjectRow(transaction: Transaction, projectId: number): Promise<void> {
  const rows = await rowsOf(transaction, lockProject, [projectId])
  if (rows.length === 0) throw notFound('Project')
}

/** Locks a user in the same way. A user who was deleted meanwhile is not locked. */
export async function lockUserRow(transaction: Transaction, userId: number): Promise<void> {
  await rowsOf(transaction, lockUser, [userId])
}

/**
 * Locks a thing without a row, by a name, until the transaction ends. Waits for another transaction with the
 * lock.
 *
 * @param name begins with the thing that is locked, such as `switchyard.trusted_issuers`, so that it is
 * unique
 */
export async function lockName(transaction: Transaction, name: string): Promise<void> {
  await rowsOf(transaction, lockByName, [name])
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

/** Returns the rows that a statement reads in a transaction of either kind. */
export async function rowsOf<Row extends object>(
  transaction: Transaction,
  statement: Statement,
  values: readonly (number | bigint | string)[],
): Promise<Row[]> {
  if ('prisma' in transaction) return transaction.prisma.$queryRawUnsafe<Row[]>(statement.text, ...values)
  return (await transaction.query<Row>({ ...statement, values: [...values] })).rows
}
