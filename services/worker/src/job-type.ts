import type { JobPayload, QueueName } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'

export type { Producer } from './queues/producer.js'

export interface JobContext {
  /** Aborts when the job takes too long, or when the process must stop before the job has ended. */
  signal: AbortSignal
  logger: Logger
}

/** The times at which a job runs by itself, once across all workers. */
export type Schedule = ScheduleTimes & {
  /** Whether the job also runs as soon as a worker has reached Redis. */
  atStart?: boolean
  /** 1: a failed run is neither repeated nor kept as a dead job, because the next run does its work. */
  attempts: number
  /** Delay before the second attempt; it doubles with each further attempt. */
  retryDelayMs: number
}

/** A cron pattern (UTC), or an interval where minutes are too coarse. */
type ScheduleTimes = { pattern: string } | { everyMs: number }

/** A kind of job. An interrupted job runs again, so `run` must be safe to repeat. */
export interface JobType<Name extends QueueName = QueueName> {
  /** The queue; its schema checks the payloads. */
  queue: Name
  /** Name of the queue when there are several of its kind. Unset: `queue`. */
  queueName?: string
  /** Number of jobs of this type that one process runs at once. */
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
