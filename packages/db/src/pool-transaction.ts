import type pg from 'pg'

/**
 * Runs `work` in one transaction of plain SQL: all of its writes hold, or none does.
 *
 * @param begin the statement that begins it, and what may go along in the same exchange with the server
 */
export async function inPoolTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // A connection that cannot even be rolled back is not used again.
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    )
    throw error
  }
}
