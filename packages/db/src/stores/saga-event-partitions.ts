import type { Database } from '../client.js'

/**
 * Creates the missing daily partitions of the saga event log, from today (UTC) on. It may run in several processes at once and
 * during writes.
 *
 * @param days number of days, today included
 * @returns names of the new partitions
 */
export async function ensureSagaEventPartitions(
  { pool }: Pick<Database, 'pool'>,
  days: number,
): Promise<string[]> {
  const { rows } = await pool.query<{ partition: string }>(
    'SELECT ensure_saga_event_partitions(current_date, $1) AS partition',
    [days],
  )
  return rows.map(({ partition }) => partition)
}
