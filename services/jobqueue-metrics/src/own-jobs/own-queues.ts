import { furtherHousekeepingQueue, jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import { DomainError, unavailable } from '@switchyard/domain'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

export type Job = Awaited<ReturnType<Queue['getFailed']>>[number]

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
  const queues = new Map<string, Queue>()

  function open(name: string): Queue {
    const known = queues.get(name)
    if (known) return known
    const queue = new Queue(name, {
      connection: redis,
      prefix: jobKeyPrefix,
      skipVersionCheck: true,
      skipMetasUpdate: true,
    })
    // BullMQ also emits connection errors as events; `use` rejects with them, so the events need no handling.
    queue.on('error', () => {})
    queues.set(name, queue)
    return queue
  }

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
    use: (name, work) => withRedis(() => work(open(name))),
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}

const isTimeout = ({ message }: Error) => message === 'Command timed out'
