import { redisOptions } from '@switchyard/config'
import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { dayMs } from '@switchyard/domain'
import type { Heartbeat } from '@switchyard/jobs-heartbeat'
import { type Logger, tracing } from '@switchyard/service-kit/observability'
import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { type JobType, queueOf } from '../job-type.js'
import { closeWorkers, watchOutage } from './close-workers.js'
import type { JobMetrics } from './job-metrics.js'
import { createProcessor } from './run-job.js'

interface WorkersOptions {
  types: JobType[]
  redisUrl: string
  logger: Logger
  metrics: JobMetrics
  /** Counts the attempts at jobs. `startWorkers` starts it. */
  heartbeat: Heartbeat
  /** Time for which running jobs may continue after closing has begun before they return to their queues. */
  graceMs: number
  /** Another client of this process, whose connection shows whether Redis is reachable. */
  redis: Redis
  /** Called with every error of a worker; see `commandFailed` of `ReportedRedis`. */
  onCommandFailed: (error: Error) => void
}

interface Workers {
  /** Takes no more jobs; finishes the running ones or returns them to their queues. */
  close(): Promise<void>
}

const kept = {
  removeOnComplete: { age: dayMs / 1000, count: 1000 },
  /** Dead jobs are kept for operators. */
  removeOnFail: { age: (30 * dayMs) / 1000, count: 10_000 },
}

/** Processes the queue of every job type. While Redis is unreachable, it keeps trying to connect. */
export function startWorkers(options: WorkersOptions): Workers {
  const { types, redisUrl, logger, metrics, heartbeat, graceMs, redis, onCommandFailed } = options
  const redisOutageMs = watchOutage(redis)
  const stopping = new AbortController()
  const connection = {
    ...redisOptions(redisUrl),
    // Blocking reads wait for Redis to come back instead of giving up.
    maxRetriesPerRequest: null,
    retryStrategy: (attempt: number) => Math.min(attempt * 100, 2000),
    // Blocking reads are answered within ten seconds. A network that drops packets reports nothing.
    socketTimeout: 20_000,
  }

  const workers = types.map((type) => {
    const queue = queueOf(type)
    const worker = new Worker(
      queue,
      heartbeat.count(createProcessor(type, { logger, metrics, stopping: stopping.signal })),
      {
        connection,
        prefix: jobKeyPrefix,
        concurrency: type.concurrency,
        // The longest wait for a job in an empty queue. The default is half of it, and wakes an idle worker
        // twice as often.
        drainDelay: 10,
        // A job whose workers are killed repeatedly is more likely the cause than the victim.
        maxStalledCount: 3,
        telemetry: tracing()?.jobs,
        ...kept,
      },
    )
    worker.on('error', (error) => {
      onCommandFailed(error)
      // The shared client logs an outage once; each worker has this event at every reconnect attempt.
      logger.debug({ err: error, queue }, 'worker error')
    })
    worker.on('failed', (job, error) => {
      // A failure finishes only a job without further attempts. A job that is not kept is repeated by its
      // next run.
      const dead = job?.finishedOn !== undefined && job.opts.removeOnFail !== true
      if (dead) metrics.died(queue)
      const fields = { queue, job_id: job?.id, attempts: job?.attemptsMade, dead }
      logger.warn({ err: error, ...fields }, 'job failed')
    })
    return worker
  })

  heartbeat.start(workers)
  return { close: () => closeWorkers({ workers, stopping, graceMs, redisOutageMs }) }
}
