import { randomUUID } from 'node:crypto'
import { type Database, holdSweep, releaseSweep } from '@switchyard/db'

/**
 * Runs `work` unless a run of the same sweep is under way, here or in another process: a run that takes longer than
 * the schedule's interval would meet the next one.
 *
 * @param holdMs after which a run that was cut off no longer counts
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
