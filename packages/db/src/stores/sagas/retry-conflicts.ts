import { setTimeout as delay } from 'node:timers/promises'
import { unavailable } from '@switchyard/domain'
import { sqlStateOf } from '../../database-failure.js'

/** Another transaction has inserted a row after this transaction had found that it did not exist. */
export class WriteConflict extends Error {}

const attemptsMax = 10
const pauseMsMax = 20

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/**
 * Runs a transaction again when it conflicted with another transaction. `work` begins and ends the transaction itself, and has rolled it
 * back when it rejects.
 *
 * @throws DomainError unavailable when every attempt conflicted
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < attemptsMax; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error)) throw error
    }
    await delay(Math.random() * pauseMsMax)
  }
  return work().catch((error: unknown) => {
    throw isConflict(error) ? unavailable('other transactions keep writing the same sagas') : error
  })
}

const isConflict = (error: unknown): boolean =>
  error instanceof WriteConflict || [serializationFailure, deadlockDetected].includes(sqlStateOf(error) ?? '')
