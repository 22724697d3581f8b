import type { Database } from '../../client.js'

type Pooled = Pick<Database, 'pool'>

/** The position at which a sweep continues: the keys of the last row that it has read. */
export type SweepPosition = Record<string, readonly string[]>

/** The position of each source of a sweep; empty when the sweep has never run. */
export async function readSweepPosition({ pool }: Pooled, name: string): Promise<SweepPosition> {
  const { rows } = await pool.query<{ position: SweepPosition }>(
    'SELECT position FROM saga_sweeps WHERE name = $1',
    [name],
  )
  return rows[0]?.position ?? {}
}

export async function writeSweepPosition(
  { pool }: Pooled,
  name: string,
  position: SweepPosition,
): Promise<void> {
  await pool.query(
    `INSERT INTO saga_sweeps (name, position) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET position = EXCLUDED.position, updated_at = CURRENT_TIMESTAMP`,
    [name, JSON.stringify(position)],
  )
}

/**
 * Takes or extends the lease of a sweep, which only one process may run at a time. Times are the database's, because
 * the clocks of the processes may differ.
 *
 * @param owner a name that only this process has
 * @returns false while another process holds it
 */
export async function holdSweep(
  { pool }: Pooled,
  name: string,
  owner: string,
  holdMs: number,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO saga_sweeps (name, owner, owned_until)
     VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until
       WHERE saga_sweeps.owner IS NULL OR saga_sweeps.owner = EXCLUDED.owner
         OR saga_sweeps.owned_until < clock_timestamp()`,
    [name, owner, holdMs],
  )
  return rowCount === 1
}

/** Ends the lease, so that another process can take it at once. */
export async function releaseSweep({ pool }: Pooled, name: string, owner: string): Promise<void> {
  await pool.query('UPDATE saga_sweeps SET owner = NULL, owned_until = NULL WHERE name = $1 AND owner = $2', [
    name,
    owner,
  ])
}
