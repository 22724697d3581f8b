import type { Database } from '../client.js'

/**
 * Makes the missing daily partitions of the saga event log, today (UTC) and the days after it. Safe to repeat
 * and to run at the same time as itself and as writers.
 *
 * @param days today included
 * @returns names of the partitions that were made
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
