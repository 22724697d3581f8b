import {
  administratorOrScope,
  answered,
  answerHead,
  endpoint,
  flag,
  ok,
  parameterProblem,
  type Route,
  route,
  type StreamSlots,
  text,
  timeText,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { QueueMetrics, SourceSnapshot, WorkerProcess } from '../sources/sources.js'
import type { Snapshots } from './snapshots.js'
import type { StateStreams } from './state-streams.js'

export interface SnapshotDependencies {
  snapshots: Snapshots
  streams: StateStreams
  streamSlots: StreamSlots
}

const mayRead = administratorOrScope('read_metrics')

export function snapshotRoutes(base: string, deps: SnapshotDependencies): Route[] {
  const { snapshots } = deps
  return [
    route('GET', `${base}/sources`, mayRead, listSources(snapshots)),
    route('GET', `${base}/queue_metrics`, mayRead, getQueueMetrics(snapshots)),
    route('GET', `${base}/process_metrics`, mayRead, getProcessMetrics(snapshots)),
    route('GET', `${base}/job_stats`, mayRead, getJobStats(snapshots)),
    route('GET', `${base}/compound_metrics`, mayRead, getCompoundMetrics(snapshots)),
    route('GET', `${base}/stream`, mayRead, streamMetrics(deps), { longLived: true }),
  ]
}

/** A function that makes the answer of an endpoint from a snapshot. */
type PresentMetrics = (snapshot: SourceSnapshot, extended: boolean, nowMs: number) => object

const metric = z.int().nullable()

/** The optional fields occur only in extended answers. */
const queueShape = z
  .object({
    backlog: z.int(),
    latency: z.int(),
    paused: z.boolean().optional(),
    busy: metric.optional(),
    processed: metric.optional(),
    failed: metric.optional(),
  })
  .meta({
    id: 'QueueMetrics',
    description: 'Number of waiting jobs, and waiting time of the oldest one in seconds',
  })

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
    rss: metric.optional(),
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

const partShapes = {
  queues: z.record(z.string(), queueShape),
  processes: z.array(processShape),
  jobs: jobsShape,
}

/** Returns queues by name, with GitLab's two metrics; an extended answer adds Switchyard's. */
const presentQueues = ({ queues }: SourceSnapshot, extended: boolean): z.output<typeof partShapes.queues> =>
  Object.fromEntries(queues.map((queue) => [queue.name, presentQueue(queue, extended)]))

const presentQueue = (queue: QueueMetrics, extended: boolean) => ({
  backlog: queue.backlog,
  latency: queue.latencySeconds,
  ...(extended
    ? { paused: queue.paused, busy: queue.busy, processed: queue.processed, failed: queue.failed }
    : {}),
})

/** Returns GitLab's eight fields of each process, in its order; an extended answer adds Switchyard's. */
const presentProcesses = (
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

/** Returns GitLab's three totals, then Switchyard's. `enqueued` is the sum of all backlogs. */
const presentJobs = ({ queues, jobs }: SourceSnapshot, extended: boolean): z.output<typeof jobsShape> => ({
  processed: jobs.processed,
  failed: jobs.failed,
  enqueued: queues.reduce((sum, { backlog }) => sum + backlog, 0),
  scheduled: jobs.scheduled,
  retry: jobs.retry,
  dead: jobs.dead,
  ...(extended ? { approximate: jobs.approximate } : {}),
})

/** Returns every source separately; `message` says why one has no metrics. */
const presentSources = (
  sources: ({ name: string } & ({ snapshot: SourceSnapshot } | { message: string }))[],
  extended: boolean,
  nowMs: number,
) => ({
  sources: sources.map(({ name, ...found }) => ({
    name,
    ...('snapshot' in found ? presentCompound(found.snapshot, extended, nowMs) : { message: found.message }),
  })),
})

/** Returns all three parts together. */
const presentCompound = (snapshot: SourceSnapshot, extended: boolean, nowMs: number) => ({
  queues: presentQueues(snapshot, extended),
  processes: presentProcesses(snapshot, extended, nowMs),
  jobs: presentJobs(snapshot, extended),
})

/**
 * Answers with metrics. The four endpoints show different parts of the same snapshot, whose age is in a
 * header.
 */
const getMetrics = (snapshots: Snapshots, summary: string, shape: z.ZodType, present: PresentMetrics) =>
  endpoint({
    summary,
    replies: { 200: shape },
    headers: { 'X-Snapshot-Age-Ms': 'Milliseconds since the metrics were read' },
    input: z.object({
      /** Limits the answer to one source. */
      source: text().optional(),
      /** Adds fields that GitLab does not have. */
      extended: flag().default(false),
    }),
    async handle({ source, extended }) {
      const snapshot = await snapshots.read(source)
      const ageMs = Math.round(performance.now() - snapshot.takenMs)
      return ok(present(snapshot, extended, Date.now()), { 'X-Snapshot-Age-Ms': String(ageMs) })
    },
  })

const { queues, processes, jobs } = partShapes

const getQueueMetrics = (snapshots: Snapshots) =>
  getMetrics(snapshots, 'List job queues', z.object({ queues }), (snapshot, extended) => ({
    queues: presentQueues(snapshot, extended),
  }))

const getProcessMetrics = (snapshots: Snapshots) =>
  getMetrics(snapshots, 'List worker processes', z.object({ processes }), (snapshot, extended, nowMs) => ({
    processes: presentProcesses(snapshot, extended, nowMs),
  }))

const getJobStats = (snapshots: Snapshots) =>
  getMetrics(snapshots, 'Get the job totals', z.object({ jobs }), (snapshot, extended) => ({
    jobs: presentJobs(snapshot, extended),
  }))

const getCompoundMetrics = (snapshots: Snapshots) =>
  getMetrics(
    snapshots,
    'Get job queues, worker processes and job totals',
    z.object(partShapes),
    presentCompound,
  )

/** Lists the values of the parameter `source`, in the order of the configuration. */
const listSources = ({ names }: Snapshots) =>
  endpoint({
    summary: 'List the sources of metrics',
    replies: { 200: z.array(z.object({ name: z.string() })) },
    input: z.object({}),
    handle: async () => ok(names.map((name) => ({ name }))),
  })

/** Streams the compound metrics as server-sent events `metrics`: at once, and whenever they change. */
const streamMetrics = ({ snapshots, streams, streamSlots }: SnapshotDependencies) =>
  endpoint({
    summary: 'Stream the compound metrics as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({
      source: text().optional(),
      by_source: flag().default(false).meta({ description: 'Each source separately, in `sources`' }),
      extended: flag().default(false),
    }),
    async handle({ source, by_source, extended }, _access, call) {
      if (by_source && source !== undefined)
        throw parameterProblem('by_source', 'cannot be combined with source')
      // Once the stream has begun, no status can report that the source is unknown or does not answer.
      if (!by_source) await snapshots.read(source)
      if (answerHead(call)) return answered
      streamSlots.take(call)
      const channel = JSON.stringify([source, by_source, extended])
      await streams.open(call.raw.response, channel, async () =>
        by_source
          ? presentSources(await snapshots.readEach(), extended, Date.now())
          : presentCompound(await snapshots.read(source), extended, Date.now()),
      )
      return answered
    },
  })
