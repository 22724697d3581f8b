import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { sqlStates } from '../database-failure.js'
import { tryLockName } from '../sql/locks.js'

/** Lock timeout of a script that builds an index CONCURRENTLY, whose wait blocks no reader and no writer. */
const concurrentLockTimeoutMs = 600_000

/** Returns the longest wait of a migration's script for each lock. */
export const lockTimeoutOf = (script: string, lockTimeoutMs: number): number =>
  /\bCONCURRENTLY\b/.test(script) ? concurrentLockTimeoutMs : lockTimeoutMs

/** Returns whether PostgreSQL ended a statement because it waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The schema engine passes the code on in its message only.
  return code === sqlStates.lockNotAvailable || String(message).includes(sqlStates.lockNotAvailable)
}

const triedAgainMs = 100

/**
 * Waits until no other process changes the schema or its roles, and excludes others until the session ends.
 * It polls, because an index that is built CONCURRENTLY waits for every running statement, including one that
 * waits for this lock.
 */
export async function holdSchemaLock(client: pg.Client): Promise<void> {
  while (!(await tryLockName(client, 'switchyard.migrations'))) await delay(triedAgainMs)
}
