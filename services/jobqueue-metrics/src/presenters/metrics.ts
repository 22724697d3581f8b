import type { SourceSnapshot } from '../sources/job-source.js'

/** Queues by name, with the two figures of the contract. */
export const presentQueues = ({ queues }: SourceSnapshot) =>
  Object.fromEntries(
    queues.map(({ name, backlog, latencySeconds }) => [name, { backlog, latency: latencySeconds }]),
  )

/** The contract's eight fields of each process, in its order. */
export const presentProcesses = ({ processes }: SourceSnapshot) =>
  processes.map((process) => ({
    hostname: process.hostname,
    pid: process.pid,
    tag: process.tag,
    started_at: process.startedAt.toISOString(),
    queues: process.queues,
    labels: process.labels,
    concurrency: process.concurrency,
    busy: process.busy,
  }))

/** The contract's three totals, then ours. What is enqueued is the backlog of all queues. */
export const presentJobs = ({ queues, jobs }: SourceSnapshot) => ({
  processed: jobs.processed,
  failed: jobs.failed,
  enqueued: queues.reduce((sum, { backlog }) => sum + backlog, 0),
  scheduled: jobs.scheduled,
  retry: jobs.retry,
  dead: jobs.dead,
})
