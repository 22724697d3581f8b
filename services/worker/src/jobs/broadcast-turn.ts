import { setTimeout as delay } from 'node:timers/promises'
import { type BroadcastNotice, broadcastChannel } from '@switchyard/contracts/jobs'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Notifies every replica of admin-broadcast at the instant at which a message goes on or off. The replicas know the
 * messages: they ignore a repeated notice, and one for an instant at which no message changes any longer. The job starts a
 * little early and waits for its instant, because BullMQ hands delayed jobs out ten times a second only.
 */
export const broadcastTurn = ({ redis, clock }: Pick<JobDependencies, 'redis' | 'clock'>) =>
  jobType({
    queue: 'broadcast-turn',
    concurrency: 10,
    timeoutMs: 10_000,
    async run({ at }, { signal }) {
      const early = at - clock().getTime()
      if (early > 0) await delay(early, undefined, { signal })
      const notice: BroadcastNotice = { at }
      await redis.publish(broadcastChannel, JSON.stringify(notice))
    },
  })
