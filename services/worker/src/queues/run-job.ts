import { jobPayloads } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'
import { type Job, UnrecoverableError, WaitingError } from 'bullmq'
import pTimeout from 'p-timeout'
import type { JobType } from '../job-type.js'
import type { JobMetrics } from './job-metrics.js'

interface RunJobDependencies {
  logger: Logger
  metrics: JobMetrics
  /** Aborted when running jobs must return to their queues, because the process stops. */
  stopping: AbortSignal
}

/**
 * Makes the function that BullMQ calls for each attempt at a job: it checks the payload, limits the time, and
 * counts the attempt whatever its result is. A job that the end of the process interrupts returns to its
 * queue without using up an attempt.
 */
export function createProcessor(type: JobType, { logger, metrics, stopping }: RunJobDependencies) {
  return async (job: Job, token?: string): Promise<void> => {
    let outcome: 'done' | 'failed' | 'returned' = 'failed'
    const startedMs = performance.now()
    metrics.started(job)
    try {
      await runOnce(type, job, logger, stopping)
      outcome = 'done'
    } catch (error) {
      if (!stopping.aborted) throw error
      outcome = 'returned'
      await job.moveToWait(token)
      throw new WaitingError('the worker stops')
    } finally {
      metrics.ended(job, outcome, (performance.now() - startedMs) / 1000)
    }
  }
}

async function runOnce(type: JobType, job: Job, logger: Logger, stopping: AbortSignal): Promise<void> {
  const payload = jobPayloads[type.queue].safeParse(job.data)
  // A bad payload stays bad, so the job is dead at once, without further attempts.
  if (!payload.success) throw new UnrecoverableError(`payload: ${payload.error.issues[0]?.message}`)
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(type.timeoutMs)])
  const jobLogger = logger.child({ queue: type.queue, job_id: job.id, attempt: job.attemptsMade + 1 })
  // The time limit also ends a job that ignores the signal, so that it cannot occupy its worker for ever.
  await pTimeout(type.run(payload.data as never, { signal, logger: jobLogger }), {
    milliseconds: Number.POSITIVE_INFINITY,
    signal,
  })
}
