import { jobKeyPrefix, type QueueName, queueNames } from '@switchyard/contracts/jobs'
import { DomainError, unavailable } from '@switchyard/domain'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

export type Job = Awaited<ReturnType<Queue['getFailed']>>[number]

export interface FoundJob {
  queue: QueueName
  job: Job
  /** In BullMQ's words, such as `failed` or `waiting`. */
  state: string
}

/** The queues of this Switchyard's own worker. */
export interface OwnQueues {
  names: readonly QueueName[]
  /**
   * Runs work on a queue.
   *
   * @throws DomainError unavailable while Redis does not answer
   */
  use<Result>(name: QueueName, work: (queue: Queue) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** @param redis has a timeout for each command, so that work on a queue ends while Redis hangs */
export function createOwnQueues(redis: Redis): OwnQueues {
  const queues = new Map<QueueName, Queue>()

  function open(name: QueueName): Queue {
    const known = queues.get(name)
    if (known) return known
    const queue = new Queue(name, {
      connection: redis,
      prefix: jobKeyPrefix,
      skipVersionCheck: true,
      skipMetasUpdate: true,
    })
    // BullMQ emits connection errors, too; `use` rejects with them, so the event needs no handling.
    queue.on('error', () => {})
    queues.set(name, queue)
    return queue
  }

  return {
    names: Object.values(queueNames),
    async use(name, work) {
      // BullMQ's Queue waits for its connection without a time limit.
      if (redis.status !== 'ready') throw unavailable('Redis')
      try {
        return await work(open(name))
      } catch (error) {
        const isAway = redis.status !== 'ready' || (error instanceof Error && isTimeout(error))
        throw isAway && !(error instanceof DomainError) ? unavailable('Redis', { cause: error }) : error
      }
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}

const isTimeout = ({ message }: Error) => message === 'Command timed out'
