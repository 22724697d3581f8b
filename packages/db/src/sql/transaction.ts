import type pg from 'pg'
import type { DatabaseOrTransaction, PrismaTransaction } from '../client.js'

/** A transaction of Prisma, or of plain SQL. */
export type Transaction = PrismaTransaction | pg.PoolClient

interface Statement {
  name?: string
  text: string
  values?: unknown[]
}

/**
 * Returns the rows of a statement. It runs in a transaction of either kind, or without one on a connection of
 * the pool.
 */
export async function query<Row extends object>(
  connection: DatabaseOrTransaction | pg.PoolClient | pg.Pool,
  statement: Statement,
): Promise<Row[]> {
  const { text, values = [] } = statement
  if ('prisma' in connection) return connection.prisma.$queryRawUnsafe<Row[]>(text, ...values)
  return (await connection.query<Row>(statement)).rows
}
