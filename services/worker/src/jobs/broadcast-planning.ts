import { broadcastHorizonMs, broadcastTurnJob, jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import { listUnfinishedBroadcastMessages } from '@switchyard/db'
import { turnsBetween } from '@switchyard/domain/broadcast'
import { Queue } from 'bullmq'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Plans, from the table alone, a job for every instant of the day ahead at which a message goes on or off. So
 * nothing is missed that was written while Redis was away, that Redis has lost, or that was too far away when
 * it was written; what is planned already stays as it is.
 */
export const broadcastPlanning = ({
  database,
  clock,
  redis,
}: Pick<JobDependencies, 'database' | 'clock' | 'redis'>) =>
  jobType({
    queue: 'broadcast-planning',
    concurrency: 1,
    timeoutMs: 60_000,
    schedule: { pattern: '*/5 * * * *', atStart: true, attempts: 5, retryDelayMs: 1000 },
    async run(_payload, { logger }) {
      const now = clock()
      const messages = await listUnfinishedBroadcastMessages(database, now)
      const turns = turnsBetween(messages, now, new Date(now.getTime() + broadcastHorizonMs))
      if (turns.length === 0) return
      const queue = new Queue(queueNames.broadcastTurn, {
        connection: redis,
        prefix: jobKeyPrefix,
        skipVersionCheck: true,
      })
      // Failures reach this job through the call below.
      queue.on('error', () => {})
      try {
        await queue.addBulk(
          turns.map((at) => {
            const { name, data, options } = broadcastTurnJob(at, now)
            return { name, data, opts: options }
          }),
        )
        logger.debug({ turns: turns.length }, 'planned the turns of broadcast messages')
      } finally {
        await queue.close()
      }
    },
  })
