import type { Pooled } from '@switchyard/db'

const everyMs = 1_000

/**
 * Returns a function that runs ANALYZE on the tables of sagas of a new database as soon as they have some
 * rows. Without statistics, PostgreSQL uses any index that begins with the tenant, which takes longer with
 * each row of the tenant, and autovacuum analyzes only after a minute.
 *
 * @returns call it after each commit; it returns at once and never throws
 */
export function createAnalyzeNewTables({ pool }: Pooled, onFailure: (error: unknown) => void): () => void {
  let isDone = false
  let dueMs = 0
  return () => {
    const nowMs = performance.now()
    if (isDone || nowMs < dueMs) return
    dueMs = nowMs + everyMs
    pool
      .query<{ done: boolean }>('SELECT analyze_new_saga_tables() AS done')
      .then(({ rows }) => {
        isDone = rows[0]?.done === true
      })
      .catch(onFailure)
  }
}
