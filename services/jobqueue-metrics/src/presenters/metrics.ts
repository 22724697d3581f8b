import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { QueueFigures, SourceSnapshot, WorkerProcess } from '../sources/job-source.js'

/** Turns a snapshot into the answer of one of the endpoints. */
export type PresentMetrics = (snapshot: SourceSnapshot, extended: boolean, nowMs: number) => object

const figure = z.int().nullable()

/** The optional fields are in extended answers only. */
const queueShape = z
  .object({
    backlog: z.int(),
    latency: z.int(),
    paused: z.boolean().optional(),
    busy: figure.optional(),
    processed: figure.optional(),
    failed: figure.optional(),
  })
  .meta({ id: 'QueueMetrics', description: 'Jobs that wait, and seconds that the oldest of them has waited' })

const processShape = z
  .object({
    hostname: z.string(),
    pid: z.int(),
    tag: z.string(),
    started_at: timeText(),
    queues: z.array(z.string()),
    labels: z.array(z.string()),
    concurrency: z.int(),
    busy: z.int(),
    identity: z.string().optional(),
    quiet: z.boolean().optional(),
    heartbeat_age: z.number().nullable().optional(),
    rss: figure.optional(),
  })
  .meta({ id: 'ProcessMetrics', description: 'A process that works on jobs' })

const jobsShape = z
  .object({
    processed: z.int(),
    failed: z.int(),
    enqueued: z.int(),
    scheduled: z.int(),
    retry: z.int(),
    dead: z.int(),
    approximate: z.boolean().optional(),
  })
  .meta({ id: 'JobStats', description: 'Totals over all queues' })

export const partShapes = {
  queues: z.record(z.string(), queueShape),
  processes: z.array(processShape),
  jobs: jobsShape,
}

/** Queues by name, with GitLab's two figures; an extended answer has Switchyard's after them. */
export const presentQueues = (
  { queues }: SourceSnapshot,
  extended: boolean,
): z.output<typeof partShapes.queues> =>
  Object.fromEntries(queues.map((queue) => [queue.name, presentQueue(queue, extended)]))

const presentQueue = (queue: QueueFigures, extended: boolean) => ({
  backlog: queue.backlog,
  latency: queue.latencySeconds,
  ...(extended
    ? { paused: queue.paused, busy: queue.busy, processed: queue.processed, failed: queue.failed }
    : {}),
})

/** GitLab's eight fields of each process, in its order; an extended answer has Switchyard's after them. */
export const presentProcesses = (
  { processes }: SourceSnapshot,
  extended: boolean,
  nowMs: number,
): z.output<typeof partShapes.processes> =>
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

/** GitLab's three totals, then Switchyard's. `enqueued` is the sum of all backlogs. */
export const presentJobs = (
  { queues, jobs }: SourceSnapshot,
  extended: boolean,
): z.output<typeof jobsShape> => ({
  processed: jobs.processed,
  failed: jobs.failed,
  enqueued: queues.reduce((sum, { backlog }) => sum + backlog, 0),
  scheduled: jobs.scheduled,
  retry: jobs.retry,
  dead: jobs.dead,
  ...(extended ? { approximate: jobs.approximate } : {}),
})

/** Every source by itself; `message` says why one has no figures. */
export const presentSources = (
  sources: ({ name: string } & ({ snapshot: SourceSnapshot } | { message: string }))[],
  extended: boolean,
  nowMs: number,
) => ({
  sources: sources.map(({ name, ...found }) => ({
    name,
    ...('snapshot' in found ? presentCompound(found.snapshot, extended, nowMs) : { message: found.message }),
  })),
})

/** All three parts in one. */
export const presentCompound = (snapshot: SourceSnapshot, extended: boolean, nowMs: number) => ({
  queues: presentQueues(snapshot, extended),
  processes: presentProcesses(snapshot, extended, nowMs),
  jobs: presentJobs(snapshot, extended),
})
