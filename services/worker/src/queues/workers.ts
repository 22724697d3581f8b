import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'
import { redisOptions } from '@switchyard/service-kit/redis'
import { Worker } from 'bullmq'
import type { JobCounts } from '../heartbeat/job-counts.js'
import type { JobType } from '../jobs/job-type.js'
import { createProcessor } from './run-job.js'

export interface WorkersOptions {
  types: JobType[]
  redisUrl: string
  logger: Logger
  counts: JobCounts
  /** How long jobs under way may go on once closing has begun; then they go back to their queues. */
  graceMs: number
}

export interface Workers {
  /** Takes no more jobs; finishes or gives back the ones under way. */
  close(): Promise<void>
}

const dayMs = 86_400_000
const kept = {
  removeOnComplete: { age: dayMs / 1000, count: 1000 },
  /** Dead jobs, for operators to look at. */
  removeOnFail: { age: (30 * dayMs) / 1000, count: 10_000 },
}
/** How long giving jobs back may take; Redis may be away by then. */
const giveBackMs = 1000

/** Works on the queue of every job type. Connects by itself, again and again, for as long as Redis is away. */
export function startWorkers({ types, redisUrl, logger, counts, graceMs }: WorkersOptions): Workers {
  const stopping = new AbortController()
  const connection = {
    ...redisOptions(redisUrl),
    // Blocking reads wait for Redis to come back instead of giving up.
    maxRetriesPerRequest: null,
    retryStrategy: (attempt: number) => Math.min(attempt * 100, 2000),
  }

  const workers = types.map((type) => {
    const worker = new Worker(
      type.queue,
      createProcessor(type, { logger, counts, stopping: stopping.signal }),
      {
        connection,
        prefix: jobKeyPrefix,
        concurrency: type.concurrency,
        // A job whose worker is killed time and again is more likely the cause than the victim.
        maxStalledCount: 3,
        ...kept,
      },
    )
    // The outage itself is reported by the registry's client; every worker tells of every attempt.
    worker.on('error', (error) => logger.debug({ err: error, queue: type.queue }, 'worker error'))
    worker.on('failed', (job, error) => {
      logger.warn(
        { err: error, queue: type.queue, job_id: job?.id, attempts: job?.attemptsMade },
        'job failed',
      )
    })
    return worker
  })

  return {
    async close() {
      const timer = setTimeout(() => stopping.abort(new Error('the worker stops')), graceMs)
      const closed = Promise.all(workers.map((worker) => worker.close()))
      const tooLate = new Promise((resolve) => setTimeout(resolve, graceMs + giveBackMs).unref())
      await Promise.race([closed, tooLate])
      clearTimeout(timer)
    },
  }
}
