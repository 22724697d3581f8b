import { unavailable } from '@switchyard/domain'
import pRetry from 'p-retry'
import type pg from 'pg'
import { isDatabaseUnavailable, sqlStateOf, sqlStates } from './database-failure.js'
import { queryOf, type Write } from './sql/write-rows.js'

/**
 * Time after which a call fails when the database does not answer, so that the caller can try another
 * instance.
 */
const answerTimeoutMs = 10_000

/**
 * Returns SQL with a time limit for the answer of the database. With a name it is prepared once for each
 * connection.
 */
export const statement = (text: string, name?: string) => ({
  text,
  query_timeout: answerTimeoutMs,
  ...(name === undefined ? {} : { name }),
})

/** Returns the query that writes these items, with the same time limit. */
export const writeStatement = <Item>(write: Write<Item>, items: readonly Item[]) => ({
  ...queryOf(write, items),
  query_timeout: answerTimeoutMs,
})

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
    await client.query(statement(begin))
    const result = await work(client)
    await client.query(statement('COMMIT'))
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
  await client.query(statement('ROLLBACK')).then(
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
