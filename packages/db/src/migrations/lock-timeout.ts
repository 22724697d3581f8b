const lockNotAvailable = '55P03'

/** Waiting to build an index CONCURRENTLY holds up no reader and no writer. */
const concurrentLockTimeoutMs = 600_000

/** How long a script of a migration may wait for each lock. */
export const lockTimeoutOf = (script: string, lockTimeoutMs: number): number =>
  /\bCONCURRENTLY\b/.test(script) ? concurrentLockTimeoutMs : lockTimeoutMs

/** Whether PostgreSQL ended a statement that waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The schema engine passes the code on in its message only.
  return code === lockNotAvailable || String(message).includes(lockNotAvailable)
}
