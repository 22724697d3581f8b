import type pg from 'pg'
import { isDatabaseUnavailable, sqlStateOf } from './database-failure.js'

/** Limits the time of a statement, so that a database that stops answering does not block the caller for ever. */
const within = (text: string) => ({ text, query_timeout: 10_000 })

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
    await client.query(within(begin))
    const result = await work(client)
    await client.query(within('COMMIT'))
    client.release()
    return result
  } catch (error) {
    await giveBack(client, error)
    throw error
  }
}

async function giveBack(client: pg.PoolClient, error: unknown): Promise<void> {
  // A connection that does not answer cannot roll back. Closing it releases its locks.
  if (sqlStateOf(error) === undefined && isDatabaseUnavailable(error)) {
    client.release(true)
    return
  }
  await client.query(within('ROLLBACK')).then(
    () => client.release(),
    () => client.release(true),
  )
}
