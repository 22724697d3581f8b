import { unavailable } from '@switchyard/domain'
import pRetry from 'p-retry'
import { sqlStateOf } from '../../database-failure.js'

/** Another transaction has inserted a row after this transaction had found that it did not exist. */
export class WriteConflict extends Error {}

/** Waits 10 to 20 ms before each of nine further attempts. */
const retrying = { retries: 9, minTimeout: 10, factor: 1, randomize: true }

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/**
 * Runs a transaction again when it conflicted with another transaction. `work` begins and ends the transaction itself, and has rolled it
 * back when it rejects.
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
  error instanceof WriteConflict || [serializationFailure, deadlockDetected].includes(sqlStateOf(error) ?? '')
