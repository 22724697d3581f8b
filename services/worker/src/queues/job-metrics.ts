import type { Outcome } from '@switchyard/jobs-heartbeat'
import type { Metrics } from '@switchyard/service-kit/observability'
import type { Job } from 'bullmq'
import { Counter, Gauge, Histogram } from 'prom-client'

const secondsBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800]

/** Prometheus metrics of the jobs that this process runs. */
export interface JobMetrics {
  /** Counts the start of an attempt. */
  started(job: Job): void
  ended(job: Job, outcome: Outcome, seconds: number): void
  /** Counts a job whose last attempt has failed. */
  died(queue: string): void
}

/** @param queues every queue, because the metrics of a queue are 0 from the start */
export function createJobMetrics({ registry }: Metrics, queues: string[]): JobMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'worker_job_attempts_total',
    help: 'Attempts at jobs that are over, by how they ended; returned ones went back to their queue unfinished.',
    labelNames: ['queue', 'outcome'],
    registers,
  })
  const dead = new Counter({
    name: 'worker_jobs_dead_total',
    help: 'Jobs whose last attempt has failed.',
    labelNames: ['queue'],
    registers,
  })
  const inProgress = new Gauge({
    name: 'worker_jobs_in_progress',
    help: 'Jobs under way in this process.',
    labelNames: ['queue'],
    registers,
  })
  const duration = new Histogram({
    name: 'worker_job_duration_seconds',
    help: 'Time an attempt at a job took.',
    labelNames: ['queue'],
    buckets: secondsBuckets,
    registers,
  })
  const wait = new Histogram({
    name: 'worker_job_wait_seconds',
    help: 'Time between the moment a job could first have run and its first attempt.',
    labelNames: ['queue'],
    buckets: secondsBuckets,
    registers,
  })
  for (const queue of queues) {
    for (const outcome of ['done', 'failed', 'returned']) attempts.inc({ queue, outcome }, 0)
    dead.inc({ queue }, 0)
    inProgress.set({ queue }, 0)
  }

  return {
    started(job) {
      const queue = job.queueName
      inProgress.inc({ queue })
      const waitedMs = (job.processedOn ?? 0) - (job.timestamp + (job.opts.delay ?? 0))
      if (job.attemptsMade === 0) wait.observe({ queue }, Math.max(0, waitedMs / 1000))
    },
    ended({ queueName: queue }, outcome, seconds) {
      inProgress.dec({ queue })
      attempts.inc({ queue, outcome })
      duration.observe({ queue }, seconds)
    },
    died: (queue) => dead.inc({ queue }),
  }
}
