import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { sqlStates } from '../database-failure.js'
import { tryLockName } from '../sql/locks.js'

/** Waiting to build an index CONCURRENTLY holds up no reader and no writer. */
const concurrentLockTimeoutMs = 600_000

/** How long a script of a migration may wait for each lock. */
export const lockTimeoutOf = (script: string, lockTimeoutMs: number): number =>
  /\bCONCURRENTLY\b/.test(script) ? concurrentLockTimeoutMs : lockTimeoutMs

/** Whether PostgreSQL ended a statement that waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The schema engine passes the code on in its message only.
  return code === sqlStates.lockNotAvailable || String(message).includes(sqlStates.lockNotAvailable)
}

const triedAgainMs = 100

/**
 * Waits until nobody else changes the schema or its roles, and keeps others from it until the session ends.
 * It asks again and again, because an index that is built CONCURRENTLY waits for every statement that goes
 * on, also for one that waits for this lock.
 */
export async function holdSchemaLock(client: pg.Client): Promise<void> {
  while (!(await tryLockName(client, 'switchyard.migrations'))) await delay(triedAgainMs)
}
