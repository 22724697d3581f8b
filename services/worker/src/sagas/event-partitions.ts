import type { Database } from '@switchyard/db'
import { jobType } from '../job-type.js'
import { ensureSagaEventPartitions } from './log-store.js'

/** Today and the next six days, so that no partition is missing when no worker runs for most of a week. */
const daysAhead = 7

/** Creates the daily partitions of the saga event log before their days begin. */
export const sagaEventPartitions = ({ database }: { database: Database }) =>
  jobType({
    queue: 'saga-event-partitions',
    concurrency: 1,
    timeoutMs: 5 * 60_000,
    schedule: { pattern: '15 0 * * *', atStart: true, attempts: 10, retryDelayMs: 5000 },
    async run(_payload, { logger }) {
      const partitions = await ensureSagaEventPartitions(database, daysAhead)
      if (partitions.length > 0) logger.info({ partitions }, 'created partitions')
    },
  })
