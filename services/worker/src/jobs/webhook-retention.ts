import { deleteDeliveriesBefore } from '@switchyard/db'
import { type JobDependencies, jobType } from './job-type.js'

const keptMs = 30 * 86_400_000
const rowsAtOnce = 5000

/** Deletes deliveries of webhooks that are over 30 days old. */
export const webhookRetention = ({ database, clock }: Pick<JobDependencies, 'database' | 'clock'>) =>
  jobType({
    queue: 'webhook-retention',
    concurrency: 1,
    timeoutMs: 30 * 60_000,
    schedule: { pattern: '40 * * * *', attempts: 5, retryDelayMs: 10_000 },
    async run(_payload, { signal, logger }) {
      const before = new Date(clock().getTime() - keptMs)
      let deleted = 0
      for (let more = true; more && !signal.aborted; ) {
        const rows = await deleteDeliveriesBefore(database, before, rowsAtOnce)
        deleted += rows
        more = rows === rowsAtOnce
      }
      if (deleted > 0) logger.info({ deleted }, 'deleted old deliveries of webhooks')
    },
  })
