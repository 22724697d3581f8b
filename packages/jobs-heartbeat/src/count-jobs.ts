import type { JobCounts, Outcome } from './job-counts.js'

/** The used part of a job of BullMQ 5 or 6. */
export interface BullmqJob {
  queueName: string
}

/** A function that BullMQ calls for each attempt at a job. */
export type Processor<Job extends BullmqJob, Result> = (
  job: Job,
  token?: string,
  signal?: AbortSignal,
) => Promise<Result>

/**
 * Wraps a processor to count its attempts. The events of a worker are not sufficient: an attempt that returns
 * its job to the queue ends without an event.
 */
export const countJobs =
  <Job extends BullmqJob, Result>(
    processor: Processor<Job, Result>,
    counts: JobCounts,
  ): Processor<Job, Result> =>
  // BullMQ passes a signal to processors that declare three parameters.
  async (job, token, signal) => {
    let outcome: Outcome = 'failed'
    counts.start()
    try {
      const result = await processor(job, token, signal)
      outcome = 'done'
      return result
    } catch (error) {
      if (isReturned(error)) outcome = 'returned'
      throw error
    } finally {
      counts.end(job.queueName, outcome)
    }
  }

/**
 * Pattern of class names of errors. Bundlers may add a number to class names or shorten them, so the messages
 * of BullMQ are compared as well.
 */
const returnedName = /^(Delayed|Waiting|WaitingChildren)Error\d*$/
const returnedText = /^bullmq:(movedTo(Delayed|Wait|WaitingChildren)|rateLimitExceeded)$/

/** Returns whether an error of BullMQ means that the processor has returned its job to the queue. */
const isReturned = (error: unknown) =>
  error instanceof Error && (returnedName.test(error.name) || returnedText.test(error.message))
