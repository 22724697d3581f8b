import { type Database, listAuditExports } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { jobType } from '../job-type.js'
import { deleteInBatches, withinBudget, withSweepLease } from '../sweeps.js'
import type { AuditTools } from './audit.js'
import { deleteOldAuditEvents } from './store.js'

const budgetMs = 4 * 60_000
const leaseMs = 10 * 60_000
const deletedAtOnce = 1000

interface Dependencies {
  database: Database
  clock: Clock
  audit: AuditTools
}

/**
 * Deletes audit entries that are older than the retention setting, except those that a destination does not
 * have yet. Each run deletes a limited number, and the next one continues.
 */
export const auditRetention = ({ database, clock, audit: { keptMs, destinations } }: Dependencies) =>
  jobType({
    queue: 'audit-retention',
    concurrency: 1,
    timeoutMs: leaseMs,
    ...(keptMs !== null && {
      schedule: { pattern: '25 * * * *', atStart: true, attempts: 3, retryDelayMs: 10_000 },
    }),
    async run(_payload, { signal, logger }) {
      if (keptMs === null) return
      await withSweepLease(database, 'audit-retention', leaseMs, async () => {
        const mayContinue = withinBudget(budgetMs, signal)
        const before = new Date(clock().getTime() - keptMs)
        const upTo = await lastExportedEverywhere(database, destinations)
        const deleted = await deleteInBatches(deletedAtOnce, mayContinue, (take) =>
          deleteOldAuditEvents(database, { before, upTo, take }),
        )
        if (deleted > 0) logger.info({ deleted }, 'deleted old entries of the audit log')
      })
    },
  })

/** Returns the id up to which every destination has the log; null without destinations. */
async function lastExportedEverywhere(
  database: Dependencies['database'],
  destinations: Dependencies['audit']['destinations'],
): Promise<bigint | null> {
  const exports = await listAuditExports(database)
  const positions = destinations.map(
    ({ name }) => exports.find(({ destination }) => destination === name)?.position ?? 0n,
  )
  return positions.toSorted((one, other) => Number(one - other))[0] ?? null
}
