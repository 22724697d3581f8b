import { Queue, type QueueOptions } from 'bullmq'
import type { Redis } from 'ioredis'
import { tracing } from './observability/index.js'

/** Queues that workers serve. */
export interface JobQueues {
  /** Opens a queue when it is first asked for, so that a service starts while Redis is unavailable. */
  get(name: string): Queue
  close(): Promise<void>
}

interface JobQueuesOptions extends Pick<QueueOptions, 'skipMetasUpdate'> {
  /** First part of their keys in Redis. */
  prefix: string
  connection: Redis
  /** Called for errors of a queue. Unset: whoever calls it learns of them. */
  onError?: (error: Error) => void
}

export function createJobQueues({ onError = () => {}, ...options }: JobQueuesOptions): JobQueues {
  const queues = new Map<string, Queue>()
  return {
    get(name) {
      const known = queues.get(name)
      if (known) return known
      const queue = new Queue(name, { ...options, skipVersionCheck: true, telemetry: tracing()?.jobs })
      queue.on('error', onError)
      queues.set(name, queue)
      return queue
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}
