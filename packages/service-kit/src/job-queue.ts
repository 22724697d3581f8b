import { type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { tracing } from './observability/index.js'

export interface JobQueue {
  /**
   * Adds a job.
   *
   * @throws Error while Redis is unavailable
   */
  add(name: string, data: unknown, options: JobsOptions): Promise<void>
  close(): Promise<void>
}

export interface JobQueueOptions {
  name: string
  /** First part of the keys in Redis. */
  prefix: string
  connection: Redis
  /** Receives errors that belong to no job. */
  onError: (error: Error) => void
}

/**
 * Creates a queue that workers serve. It connects with its first job, so that a service starts while Redis is
 * unavailable.
 */
export function createJobQueue({ name: queueName, prefix, connection, onError }: JobQueueOptions): JobQueue {
  let queue: Queue | undefined
  const open = () => {
    const opened = new Queue(queueName, {
      connection,
      prefix,
      skipVersionCheck: true,
      telemetry: tracing()?.jobs,
    })
    opened.on('error', onError)
    return opened
  }
  return {
    async add(name, data, options) {
      queue ??= open()
      await queue.add(name, data, options)
    },
    async close() {
      await queue?.close()
    },
  }
}
