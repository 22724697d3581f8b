import { sqlStateOf, sqlStates } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import pRetry from 'p-retry'

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
