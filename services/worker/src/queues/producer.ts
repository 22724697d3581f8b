import { jobKeyPrefix, type QueueName } from '@switchyard/contracts/jobs'
import { type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** A job as the builders of `@switchyard/contracts/jobs` make it. */
export interface NewJob {
  name: QueueName
  data: object
  options: JobsOptions
}

export interface Producer {
  add(job: NewJob): Promise<void>
  close(): Promise<void>
}

/** Puts jobs into queues for jobs that ask for others. Adding fails at once while Redis is away. */
export function createProducer(connection: Redis): Producer {
  const queues = new Map<QueueName, Queue>()
  const queueOf = (name: QueueName) => {
    const queue =
      queues.get(name) ?? new Queue(name, { connection, prefix: jobKeyPrefix, skipVersionCheck: true })
    // Failures reach the caller of `add`.
    if (!queues.has(name)) queue.on('error', () => {})
    queues.set(name, queue)
    return queue
  }
  return {
    async add({ name, data, options }) {
      await queueOf(name).add(name, data, options)
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}
