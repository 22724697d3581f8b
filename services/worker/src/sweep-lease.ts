import { randomUUID } from 'node:crypto'
import type { Database } from '@switchyard/db'
import { leaseSweep, releaseSweep } from './sweeps.js'

/**
 * Runs `work` unless a run of the same sweep is under way in any process: a run may take longer than the
 * interval of its schedule.
 *
 * @param leaseMs time after which a run that was killed no longer blocks other runs
 */
export async function withSweepLease(
  database: Database,
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
