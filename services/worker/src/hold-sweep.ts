import { randomUUID } from 'node:crypto'
import type { Database } from '@switchyard/db'
import { holdSweep, releaseSweep } from '@switchyard/saga-store'

/**
 * Runs `work` unless a run of the same sweep is under way in any process: a run may take longer than the interval of its
 * schedule.
 *
 * @param holdMs time after which a run that was killed no longer blocks other runs
 */
export async function withSweepHeld(
  database: Database,
  name: string,
  holdMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const owner = randomUUID()
  if (!(await holdSweep(database, name, owner, holdMs))) return
  try {
    await work()
  } finally {
    await releaseSweep(database, name, owner)
  }
}
