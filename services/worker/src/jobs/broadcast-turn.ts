import { setTimeout as delay } from 'node:timers/promises'
import { type BroadcastNotice, broadcastChannel } from '@switchyard/contracts/jobs'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Tells every replica that shows broadcast messages that an instant has come at which one goes on or off.
 * They know the messages; what is said twice, or about an instant at which nothing happens any more, is
 * nothing to them. The job comes a little early and waits for its instant, because Redis only wakes those who
 * wait for jobs ten times a second.
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
