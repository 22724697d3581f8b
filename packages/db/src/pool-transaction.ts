import { unavailable } from '@switchyard/domain'
import pRetry from 'p-retry'
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

/** The error of a transaction that found no row, while another transaction has inserted it meanwhile. */
export class WriteConflict extends Error {}

/** Nine retries, each after 10 to 20 ms. */
const retrying = { retries: 9, minTimeout: 10, factor: 1, randomize: true }

/**
 * Runs a transaction again when it conflicted with another transaction. `work` begins and ends the
 * transaction itself, and rolls it back before it rejects.
 *
 * @throws DomainError unavailable when every attempt conflicted
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await pRetry(work, { ...retrying, shouldRetry: ({ error }) => isConflict(error) })
  } catch (error) {
    throw isConflict(error) ? unavailable('other transactions keep writing the same sagas') : error
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof WriteConflict ||
  [sqlStates.serializationFailure, sqlStates.deadlockDetected].includes(sqlStateOf(error) ?? '')
