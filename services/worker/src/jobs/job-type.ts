import type { JobPayload, QueueName } from '@switchyard/contracts/jobs'
import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Redis } from 'ioredis'
import type { SagaSettings } from '../saga-config.js'
import type { SagaFigures } from '../saga-figures/saga-figures.js'
import type { WebhookTools } from '../webhooks/webhook-tools.js'

/** What the jobs of this service work with; made once, in the composition root. */
export interface JobDependencies {
  database: Database
  clock: Clock
  redis: Redis
  /** Folder below which the bare repositories lie. */
  storageRoot: string
  /** Repositories tidied at once. */
  housekeepingConcurrency: number
  sagas: SagaSettings
  sagaFigures: SagaFigures
  webhooks: WebhookTools
}

export interface JobContext {
  /** Aborted when the job takes too long, and when the process has to stop before the job is done. */
  signal: AbortSignal
  logger: Logger
}

/** When a job comes by itself; once, however many workers there are. */
export type Schedule = ScheduleTimes & {
  /** Also as soon as a worker has reached Redis. */
  atStart?: boolean
  /** 1: the next run makes up for one that failed, which therefore is no dead job. */
  attempts: number
  /** Wait before the second attempt; doubles with each one after it. */
  retryDelayMs: number
}

/** A cron pattern (UTC), or an interval where minutes are too coarse. */
type ScheduleTimes = { pattern: string } | { everyMs: number }

/**
 * Everything about one kind of job. A job may be run again after it was cut off at any point, so `run` must
 * bring things to the same end however often it runs.
 */
export interface JobType<Name extends QueueName = QueueName> {
  queue: Name
  /** Jobs of this type that one process runs at once. */
  concurrency: number
  timeoutMs: number
  /** Unset: it only runs when somebody asks for it, who also says how often it is tried. */
  schedule?: Schedule
  run(payload: JobPayload<Name>, context: JobContext): Promise<void>
}

/** Loses the type of the payload, which is checked against the queue's schema before a job is run. */
export const jobType = <Name extends QueueName>(definition: JobType<Name>) => definition as unknown as JobType
