import type { JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'

export interface JobQueue {
  /** @throws Error when Redis is away */
  add(name: string, data: unknown, options: JobsOptions): Promise<void>
  close(): Promise<void>
}

export interface JobQueueOptions {
  name: string
  /** First part of its keys in Redis. */
  prefix: string
  connection: Redis
  /** Told of failures that belong to no job. */
  onError: (error: Error) => void
}

/**
 * A queue that workers serve. It opens with its first job: to load BullMQ takes as long as the rest of a service, and
 * nothing else in a service that only hands out work needs it.
 */
export function createJobQueue({ name: queueName, prefix, connection, onError }: JobQueueOptions): JobQueue {
  let opening: Promise<Queue> | undefined
  const open = async () => {
    const { Queue } = await import('bullmq')
    const queue = new Queue(queueName, { connection, prefix, skipVersionCheck: true })
    queue.on('error', onError)
    return queue
  }
  return {
    async add(name, data, options) {
      opening ??= open()
      await (await opening).add(name, data, options)
    },
    async close() {
      await (await opening)?.close()
    },
  }
}
