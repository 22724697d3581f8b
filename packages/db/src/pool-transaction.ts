import type pg from 'pg'
import type { Pooled } from './client.js'
import { isDatabaseUnavailable, sqlStateOf, sqlStates } from './database-failure.js'

/**
 * Runs `work` in one transaction of plain SQL.
 *
 * @param begin the statement that begins the transaction, and further statements for the same round trip
 */
export async function inPoolTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    await giveBack(client, error)
    throw error
  }
}

/** Returns the rows of a query with a time limit; null when the limit was exceeded. */
export async function readRowsWithin<Row extends object>(
  { pool }: Pooled,
  timeoutMs: number,
  query: pg.QueryConfig,
): Promise<Row[] | null> {
  try {
    return await inPoolTransaction(
      pool,
      async (client) => (await client.query<Row>(query)).rows,
      `BEGIN READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}`,
    )
  } catch (error) {
    if (sqlStateOf(error) === sqlStates.queryCanceled) return null
    throw error
  }
}

async function giveBack(client: pg.PoolClient, error: unknown): Promise<void> {
  // A connection that does not answer cannot roll back. Closing it releases its locks.
  if (sqlStateOf(error) === undefined && isDatabaseUnavailable(error)) {
    client.release(true)
    return
  }
  await client.query('ROLLBACK').then(
    () => client.release(),
    () => client.release(true),
  )
}
