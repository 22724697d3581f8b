import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'
import { redisOptions } from '@switchyard/service-kit/redis'
import { Worker } from 'bullmq'
import type { JobType } from '../jobs/job-type.js'
import { closeWorkers } from './close-workers.js'
import type { JobFigures } from './job-figures.js'
import { createProcessor } from './run-job.js'

export interface WorkersOptions {
  types: JobType[]
  redisUrl: string
  logger: Logger
  figures: JobFigures
  /** How long jobs under way may go on once closing has begun; then they go back to their queues. */
  graceMs: number
  /** Whether Redis can be reached, as another client sees it. */
  isRedisReady: () => boolean
}

export interface Workers {
  all: Worker[]
  /** Takes no more jobs; finishes or gives back the ones under way. */
  close(): Promise<void>
}

const dayMs = 86_400_000
const kept = {
  removeOnComplete: { age: dayMs / 1000, count: 1000 },
  /** Dead jobs, for operators to look at. */
  removeOnFail: { age: (30 * dayMs) / 1000, count: 10_000 },
}

/** Works on the queue of every job type. Connects by itself, again and again, for as long as Redis is away. */
export function startWorkers(options: WorkersOptions): Workers {
  const { types, redisUrl, logger, figures, graceMs, isRedisReady } = options
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
      createProcessor(type, { logger, figures, stopping: stopping.signal }),
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
      // Only a job without further attempts is finished by a failure; one that is not kept has a successor.
      const dead = job?.finishedOn !== undefined && job.opts.removeOnFail !== true
      if (dead) figures.died(type.queue)
      const fields = { queue: type.queue, job_id: job?.id, attempts: job?.attemptsMade, dead }
      logger.warn({ err: error, ...fields }, 'job failed')
    })
    return worker
  })

  return { all: workers, close: () => closeWorkers({ workers, stopping, graceMs, isRedisReady }) }
}
