import { furtherHousekeepingQueue, jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import { DomainError, unavailable } from '@switchyard/domain'
import { createJobQueues } from '@switchyard/service-kit/job-queues'
import type { Job, Queue } from 'bullmq'
import type { Redis } from 'ioredis'

export interface FoundJob {
  queue: string
  job: Job
  /** The state in BullMQ's terms, such as `failed` or `waiting`. */
  state: string
}

/** The queues of this installation's own workers. */
export interface OwnQueues {
  /** The queues that every installation has. */
  names: readonly string[]
  /**
   * Returns whether a queue exists: one of `names`, or the queue of a further storage once it has had a job.
   *
   * @throws DomainError unavailable while Redis does not answer
   */
  has(name: string): Promise<boolean>
  /**
   * Runs work on a queue.
   *
   * @throws DomainError unavailable while Redis does not answer
   */
  use<Result>(name: string, work: (queue: Queue) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * @param redis a client with a time limit for each command, so that work on a queue also ends while Redis
 *   hangs
 */
export function createOwnQueues(redis: Redis): OwnQueues {
  const queues = createJobQueues({ prefix: jobKeyPrefix, connection: redis, skipMetasUpdate: true })

  async function withRedis<Result>(work: () => Promise<Result>): Promise<Result> {
    // BullMQ's Queue waits for its connection without a time limit.
    if (redis.status !== 'ready') throw unavailable('Redis does not answer')
    try {
      return await work()
    } catch (error) {
      const isUnreachable = redis.status !== 'ready' || (error instanceof Error && isTimeout(error))
      throw isUnreachable && !(error instanceof DomainError)
        ? unavailable('Redis does not answer', { cause: error })
        : error
    }
  }

  const names: readonly string[] = Object.values(queueNames)
  return {
    names,
    async has(name) {
      if (names.includes(name)) return true
      // BullMQ writes this key with the first job.
      const exists = () => redis.exists(`${jobKeyPrefix}:${name}:meta`)
      return furtherHousekeepingQueue.test(name) && (await withRedis(exists)) === 1
    },
    use: (name, work) => withRedis(() => work(queues.get(name))),
    close: () => queues.close(),
  }
}

const isTimeout = ({ message }: Error) => message === 'Command timed out'
