import type { Database } from '@switchyard/db'
import { waitFor } from '@switchyard/testing'

/**
 * Waits for the end of every transaction that runs now on the server. The worker reads no event while a transaction that
 * is older than the event runs, and other tests hold transactions open on the same server, in databases of their own.
 */
export async function endOfEarlierTransactions({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ next: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
  )
  const haveEnded = async () => {
    const { rowCount } = await pool.query(
      'SELECT WHERE pg_snapshot_xmin(pg_current_snapshot())::text::numeric >= $1::numeric',
      [rows[0]?.next],
    )
    return rowCount === 1
  }
  await waitFor(haveEnded, { what: 'the end of earlier transactions', timeoutMs: 60_000 })
}
