import { type BroadcastNotice, broadcastChannel } from '@switchyard/contracts/jobs'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Tells every replica that shows broadcast messages that an instant has come at which one goes on or off.
 * They know the messages; what is said twice, or about an instant at which nothing happens any more, is
 * nothing to them.
 */
export const broadcastTurn = ({ redis }: Pick<JobDependencies, 'redis'>) =>
  jobType({
    queue: 'broadcast-turn',
    concurrency: 8,
    timeoutMs: 10_000,
    async run({ at }) {
      const notice: BroadcastNotice = { at }
      await redis.publish(broadcastChannel, JSON.stringify(notice))
    },
  })
