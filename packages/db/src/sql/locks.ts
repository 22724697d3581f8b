import { notFound } from '@switchyard/domain'
import type pg from 'pg'
import type { DatabaseOrTransaction } from '../client.js'

/** That of Prisma or of plain SQL. */
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
 * Locks a project until the transaction ends, so that two transactions cannot count and add rows of it at the
 * same time.
 *
 * @throws DomainError not-found
 */
export async function lockProjectRow(transaction: Transaction, projectId: number): Promise<void> {
  const rows = await rowsOf(transaction, lockProject, [projectId])
  if (rows.length === 0) throw notFound('Project')
}

/** Locks a user in the same way. A user who is deleted meanwhile is not locked. */
export async function lockUserRow(transaction: Transaction, userId: number): Promise<void> {
  await rowsOf(transaction, lockUser, [userId])
}

/**
 * Locks what has no row to lock, by its name, until the transaction ends. Waits for a transaction that has
 * locked it.
 *
 * @param name begins with what it is about, such as `switchyard.trusted_issuers`, so that nothing else has
 *   the same
 */
export async function lockName(transaction: Transaction, name: string): Promise<void> {
  await rowsOf(transaction, lockByName, [name])
}

/**
 * Locks a name until the connection ends, unless another connection has locked it.
 *
 * @returns whether it is locked now
 */
export async function tryLockName(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isLocked"',
    [name],
  )
  return rows[0]?.isLocked === true
}

/** The rows that a statement reads in a transaction of either kind. */
export async function rowsOf<Row extends object>(
  transaction: Transaction,
  statement: Statement,
  values: readonly (number | bigint | string)[],
): Promise<Row[]> {
  if ('prisma' in transaction) return transaction.prisma.$queryRawUnsafe<Row[]>(statement.text, ...values)
  return (await transaction.query<Row>({ ...statement, values: [...values] })).rows
}
