import type { JobCounts, Outcome } from './job-counts.js'

/** What is used of a job of BullMQ 5 or 6. */
export interface BullmqJob {
  queueName: string
}

/** What BullMQ calls for each attempt at a job. */
export type Processor<Job extends BullmqJob, Result> = (
  job: Job,
  token?: string,
  signal?: AbortSignal,
) => Promise<Result>

/**
 * Counts the attempts of a processor, however they end. The events of a worker would not do: an attempt that puts its
 * job back ends without one.
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

/** Bundlers number classes whose names clash, or shorten all names; the message that BullMQ gives them stays. */
const returnedName = /^(Delayed|Waiting|WaitingChildren)Error\d*$/
const returnedText = /^bullmq:(movedTo(Delayed|Wait|WaitingChildren)|rateLimitExceeded)$/

/** Errors by which a processor tells BullMQ that it has put its job back. */
const isReturned = (error: unknown) =>
  error instanceof Error && (returnedName.test(error.name) || returnedText.test(error.message))
