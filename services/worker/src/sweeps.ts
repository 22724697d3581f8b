import { randomUUID } from 'node:crypto'
import type { Pooled } from '@switchyard/db'
import { hasNoOwner, leaseEnd, ownerReleased } from '@switchyard/db/sql'

/** The position at which a sweep continues: the keys of the last row that it has read. */
export type SweepPosition = Record<string, readonly string[]>

/** Returns the position of each source of a sweep; empty when the sweep has never run. */
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
 * Takes or extends the lease of a sweep, which only one process may run at a time.
 *
 * @param owner a unique name of this process
 * @returns false while another process holds it
 */
export async function leaseSweep(
  { pool }: Pooled,
  name: string,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  // This does not use `leaseRows`, because the row has a name, and is created when it is missing.
  const { rowCount } = await pool.query(
    `INSERT INTO saga_sweeps (name, owner, owned_until)
     VALUES ($1, $2, ${leaseEnd('$3')})
     ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until
       WHERE saga_sweeps.owner = EXCLUDED.owner OR ${hasNoOwner('saga_sweeps')}`,
    [name, owner, leaseMs],
  )
  return rowCount === 1
}

/** Ends the lease, so that another process can take it at once. */
export async function releaseSweep({ pool }: Pooled, name: string, owner: string): Promise<void> {
  await pool.query(`UPDATE saga_sweeps SET ${ownerReleased} WHERE name = $1 AND owner = $2`, [name, owner])
}

/**
 * Returns a function that tells whether a run may continue: for `budgetMs` from now, unless its job is
 * aborted.
 */
export function withinBudget(budgetMs: number, signal: AbortSignal): () => boolean {
  const untilMs = performance.now() + budgetMs
  return () => performance.now() < untilMs && !signal.aborted
}

/**
 * Deletes rows in batches, each in its own statement, so that none runs for long.
 *
 * @param deleteSome deletes this many rows at most, and returns their number
 * @param mayContinue returns whether another batch may begin
 * @returns number of deleted rows
 */
export async function deleteInBatches(
  rowsMax: number,
  mayContinue: () => boolean,
  deleteSome: (rowsMax: number) => Promise<number>,
): Promise<number> {
  let deleted = 0
  let last: number
  do {
    last = await deleteSome(rowsMax)
    deleted += last
  } while (last === rowsMax && mayContinue())
  return deleted
}

/**
 * Runs `work` unless another process runs the same sweep, because a run may take longer than the interval of
 * its schedule.
 *
 * @param leaseMs time after which a killed run no longer blocks other runs
 */
export async function withSweepLease(
  database: Pooled,
  name: string,
  leaseMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const owner = randomUUID()
  if (!(await leaseSweep(database, name, owner, leaseMs))) return
  try {
    await work()
  } finally {
    await releaseSweep(database, name, owner)
  }
}
