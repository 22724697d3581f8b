import type { JobPayload, QueueName } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'

export type { Producer } from './queues/producer.js'

export interface JobContext {
  /** Aborted when the job takes too long, or when the process has to stop before the job has ended. */
  signal: AbortSignal
  logger: Logger
}

/** When a job runs without being asked for: once, however many workers there are. */
export type Schedule = ScheduleTimes & {
  /** Also as soon as a worker has reached Redis. */
  atStart?: boolean
  /** 1: a run that failed is neither repeated nor kept as a dead job, because the next run does its work. */
  attempts: number
  /** Wait before the second attempt; doubles with each one after it. */
  retryDelayMs: number
}

/** A cron pattern (UTC), or an interval where minutes are too coarse. */
type ScheduleTimes = { pattern: string } | { everyMs: number }

/** A kind of job. A job that was interrupted anywhere runs again, so that `run` must be safe to repeat. */
export interface JobType<Name extends QueueName = QueueName> {
  /** The queue; its schema checks the payloads. */
  queue: Name
  /** Name of the queue where there are several of its kind. Unset: `queue`. */
  queueName?: string
  /** Jobs of this type that one process runs at once. */
  concurrency: number
  timeoutMs: number
  /**
   * Unset: the job runs only when a service or another job adds it, which also sets the number of attempts.
   */
  schedule?: Schedule
  run(payload: JobPayload<Name>, context: JobContext): Promise<void>
}

export const queueOf = ({ queue, queueName }: JobType): string => queueName ?? queue

/** Hides the type of the payload. Before a job runs, its payload is checked against the queue's schema. */
export const jobType = <Name extends QueueName>(definition: JobType<Name>) => definition as unknown as JobType
