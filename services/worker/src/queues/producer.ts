import { jobKeyPrefix, type QueueName } from '@switchyard/contracts/jobs'
import { createJobQueues } from '@switchyard/service-kit/job-queues'
import type { JobsOptions } from 'bullmq'
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
  const queues = createJobQueues({ prefix: jobKeyPrefix, connection })
  return {
    async addAll(queue, jobs) {
      if (jobs.length === 0) return
      await queues.get(queue).addBulk(jobs.map(({ name, data, options }) => ({ name, data, opts: options })))
    },
    close: () => queues.close(),
  }
}
