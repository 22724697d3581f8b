import { broadcastHorizonMs, broadcastTurnJob, queueNames } from '@switchyard/contracts/jobs'
import { listUnfinishedBroadcastMessages } from '@switchyard/db'
import { turnsBetween } from '@switchyard/domain/broadcast'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Plans a job for every instant of the day ahead at which a message goes on or off. It reads the table alone, so that no
 * message is missed which was written while Redis was away, whose job Redis has lost, or which was written over a day
 * before. Jobs that are planned already stay as they are.
 */
export const broadcastPlanning = ({
  database,
  clock,
  producer,
}: Pick<JobDependencies, 'database' | 'clock' | 'producer'>) =>
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
      const planned = turns.map((at) => broadcastTurnJob(at, now))
      await producer.addAll(queueNames.broadcastTurn, planned)
      logger.debug({ turns: turns.length }, 'planned the turns of broadcast messages')
    },
  })
