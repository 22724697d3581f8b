import type { QueueFigures, SourceSnapshot, WorkerProcess } from '../sources/job-source.js'

/** Queues by name, with the two figures of the contract; with ours behind them when these are asked for. */
export const presentQueues = ({ queues }: SourceSnapshot, extended: boolean) =>
  Object.fromEntries(queues.map((queue) => [queue.name, presentQueue(queue, extended)]))

const presentQueue = (queue: QueueFigures, extended: boolean) => ({
  backlog: queue.backlog,
  latency: queue.latencySeconds,
  ...(extended
    ? { paused: queue.paused, busy: queue.busy, processed: queue.processed, failed: queue.failed }
    : {}),
})

/** The contract's eight fields of each process, in its order; then ours when these are asked for. */
export const presentProcesses = ({ processes }: SourceSnapshot, extended: boolean, nowMs: number) =>
  processes.map((process) => ({
    hostname: process.hostname,
    pid: process.pid,
    tag: process.tag,
    started_at: process.startedAt.toISOString(),
    queues: process.queues,
    labels: process.labels,
    concurrency: process.concurrency,
    busy: process.busy,
    ...(extended ? presentHealth(process, nowMs) : {}),
  }))

const presentHealth = ({ identity, quiet, beatMs, rssKib }: WorkerProcess, nowMs: number) => ({
  identity,
  quiet,
  heartbeat_age: beatMs === null ? null : Math.max(0, Math.round(nowMs - beatMs) / 1000),
  rss: rssKib === null ? null : rssKib * 1024,
})

/** The contract's three totals, then ours. What is enqueued is the backlog of all queues. */
export const presentJobs = ({ queues, jobs }: SourceSnapshot, extended: boolean) => ({
  processed: jobs.processed,
  failed: jobs.failed,
  enqueued: queues.reduce((sum, { backlog }) => sum + backlog, 0),
  scheduled: jobs.scheduled,
  retry: jobs.retry,
  dead: jobs.dead,
  ...(extended ? { approximate: jobs.approximate } : {}),
})

/** All three parts in one. */
export const presentCompound = (snapshot: SourceSnapshot, extended: boolean, nowMs: number) => ({
  queues: presentQueues(snapshot, extended),
  processes: presentProcesses(snapshot, extended, nowMs),
  jobs: presentJobs(snapshot, extended),
})
