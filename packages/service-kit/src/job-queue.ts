import { type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { tracing } from './observability/index.js'

export interface JobQueue {
  /** @throws Error while Redis is unavailable */
  add(name: string, data: unknown, options: JobsOptions): Promise<void>
  close(): Promise<void>
}

export interface JobQueueOptions {
  name: string
  /** First part of its keys in Redis. */
  prefix: string
  connection: Redis
  /** Called for errors that belong to no job. */
  onError: (error: Error) => void
}

/**
 * A queue that workers serve. It connects with its first job, so that a service starts while Redis is
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
