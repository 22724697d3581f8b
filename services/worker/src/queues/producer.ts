import { jobKeyPrefix, type QueueName } from '@switchyard/contracts/jobs'
import { tracing } from '@switchyard/service-kit/observability'
import { type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** A job from the builders of `@switchyard/contracts/jobs`. */
interface NewJob<Name extends QueueName> {
  name: Name
  data: object
  options: JobsOptions
}

/** The producer of jobs that another job requests. */
export interface Producer {
  /**
   * Adds jobs to one queue.
   *
   * @throws Error at once while Redis is unreachable
   */
  addAll<Name extends QueueName>(queue: Name, jobs: readonly NewJob<Name>[]): Promise<void>
  close(): Promise<void>
}

export function createProducer(connection: Redis): Producer {
  const queues = new Map<QueueName, Queue>()

  function queueOf(name: QueueName): Queue {
    const known = queues.get(name)
    if (known) return known
    const queue = new Queue(name, {
      connection,
      prefix: jobKeyPrefix,
      skipVersionCheck: true,
      telemetry: tracing()?.jobs,
    })
    // Failures reach the caller of `addAll`.
    queue.on('error', () => {})
    queues.set(name, queue)
    return queue
  }

  return {
    async addAll(queue, jobs) {
      if (jobs.length === 0) return
      await queueOf(queue).addBulk(jobs.map(({ name, data, options }) => ({ name, data, opts: options })))
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}
