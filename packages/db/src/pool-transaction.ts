import type pg from 'pg'
import { isDatabaseUnavailable, sqlStateOf } from './database-failure.js'

/** A database that stopped answering must not hold its callers for ever. */
const within = (text: string) => ({ text, query_timeout: 10_000 })

/**
 * Runs `work` in one transaction of plain SQL: all of its writes hold, or none does.
 *
 * @param begin the statement that begins it, and what may go along in the same exchange with the server
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
  // A connection that does not answer would not answer a ROLLBACK either. Closing it frees its locks.
  if (sqlStateOf(error) === undefined && isDatabaseUnavailable(error)) {
    client.release(true)
    return
  }
  await client.query(within('ROLLBACK')).then(
    () => client.release(),
    () => client.release(true),
  )
}
