import type { Pooled } from '../client.js'

/**
 * Runs housekeeping or a move of a repository with the maintenance lock, which one process at a time holds.
 * It does not delay changes: changes share a lock of their own, which a move takes for its last step
 * (`services/git-api/src/storages/change-lock.ts`).
 *
 * @param work its signal is aborted when the connection that holds the lock is lost, which releases the lock
 * @returns false, without running `work`, when another process holds the lock
 */
export async function withMaintenanceLock(
  { pool }: Pooled,
  projectId: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const client = await pool.connect()
  const lost = new AbortController()
  const onError = (error: Error) => lost.abort(error)
  client.on('error', onError)
  const ask = async (call: string): Promise<boolean> => {
    const sql = `SELECT ${call}(hashtextextended('switchyard.repository', $1)) AS answer`
    return (await client.query<{ answer: boolean }>(sql, [projectId])).rows[0]?.answer === true
  }
  let lock: 'unknown' | 'held' | 'free' = 'unknown'
  try {
    lock = (await ask('pg_try_advisory_lock')) ? 'held' : 'free'
    if (lock === 'free') return false
    await work(lost.signal)
    return true
  } finally {
    // The connection must not keep the lock in the pool, so it is closed unless the lock is certainly free.
    if (lock === 'held' && (await ask('pg_advisory_unlock').catch(() => false))) lock = 'free'
    client.off('error', onError)
    client.release(lock !== 'free')
  }
}
