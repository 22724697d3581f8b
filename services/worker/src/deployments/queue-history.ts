import {
  type HistorySample,
  queueHistoryKeys,
  readSeriesKey,
  type SeriesMetrics,
  unpackSample,
} from '@switchyard/contracts/jobs'
import type { QueueSample } from '@switchyard/delivery-impact'
import { isQueueOf, type NamedQueue } from '@switchyard/domain/queue-services'
import type { Redis } from 'ioredis'

/** Samples in memory at once while the history is read: one of 2,000 queues takes half a megabyte. */
const readAtOnce = 10
const samplesMax = 1440
/** What happened between two samples that lie further apart is not known to have happened then. */
const gapMsMax = 180_000
/** Queues that are compared although their services were not deployed. */
const othersMax = 30

interface QueuesQuestion {
  /**
   * The names of the groups to which a series counts; asked once for each. The series of a whole source has
   * the queue ''.
   */
  groupsOf: (series: NamedQueue) => readonly string[]
  fromMs: number
  toMs: number
}

/** Samples of queues, by group and by time, in the minutes that the history has. */
export interface Queues {
  /** Whether the history has any minute of the times that were asked for. */
  isKnown: boolean
  groups: Map<string, QueueSample[]>
}

/**
 * The groups that the history of queues knows. Of a source that has the name of a service, the whole counts:
 * not every source counts attempts by queue.
 */
export const groupsOfServices =
  (services: readonly string[]): QueuesQuestion['groupsOf'] =>
  ({ source, queue }) =>
    services.filter((serviceName) =>
      source === serviceName ? queue === '' : isQueueOf(serviceName, { source, queue }),
    )

/** Some queues of no service of the given ones, each by itself. */
export function groupsOfOthers(services: readonly string[]): QueuesQuestion['groupsOf'] {
  let others = 0
  return (series) => {
    const isOther = series.queue !== '' && !services.some((serviceName) => isQueueOf(serviceName, series))
    if (!isOther || others === othersMax) return []
    others += 1
    return [`${series.source} ${series.queue}`]
  }
}

/** @throws Error when Redis does not answer */
export async function readQueues(redis: Redis, question: QueuesQuestion): Promise<Queues> {
  const { groupsOf, fromMs, toMs } = question
  const known = new Map<string, readonly string[]>()
  const groupsOfKey = (key: string) => {
    const groups = known.get(key) ?? groupsOf(readSeriesKey(key))
    known.set(key, groups)
    return groups
  }
  const rows: Row[] = []
  for await (const { atMs, metrics } of samplesBackTo(redis, fromMs - gapMsMax))
    if (atMs < toMs)
      rows.push({ at: atMs, series: [...metrics].filter(([key]) => groupsOfKey(key).length > 0) })
  rows.sort((a, b) => a.at - b.at)
  const groups = new Map<string, QueueSample[]>()
  for (const [index, row] of rows.entries())
    if (row.at >= fromMs)
      for (const [group, sample] of samplesOf(row, rows[index - 1], groupsOfKey)) {
        const samples = groups.get(group)
        if (samples) samples.push(sample)
        else groups.set(group, [sample])
      }
  return { isKnown: rows.some(({ at }) => at >= fromMs), groups }
}

/** The latest first. When a sample is saved meanwhile, another one may come twice. */
async function* samplesBackTo(redis: Redis, fromMs: number): AsyncGenerator<HistorySample> {
  let last = Number.POSITIVE_INFINITY
  for (let start = 0; start < samplesMax; start += readAtOnce) {
    const packed = await redis.lrangeBuffer(queueHistoryKeys[60], start, start + readAtOnce - 1)
    if (packed.length === 0) return
    for (const each of packed) {
      const sample = await unpackSample(each)
      if (sample.atMs < fromMs) return
      if (sample.atMs < last) yield sample
      last = sample.atMs
    }
  }
}

interface Row {
  at: number
  series: [key: string, metrics: SeriesMetrics][]
}

/** The sample of each group at one moment: the longest latency, and the attempts since the moment before. */
function samplesOf(
  { at, series }: Row,
  before: Row | undefined,
  groupsOf: (key: string) => readonly string[],
): Map<string, QueueSample> {
  const earlier = new Map(before && at - before.at <= gapMsMax ? before.series : [])
  const samples = new Map<string, QueueSample>()
  for (const [key, metrics] of series)
    for (const group of groupsOf(key)) {
      const sample = samples.get(group) ?? { at, latencySeconds: null, jobs: 0, failed: 0 }
      const { jobs, failed } = attemptsSince(earlier.get(key), metrics)
      const latencies = [sample.latencySeconds, metrics.latency].filter((latency) => latency !== null)
      samples.set(group, {
        at,
        latencySeconds: latencies.length === 0 ? null : Math.max(...latencies),
        jobs: sample.jobs + jobs,
        failed: sample.failed + failed,
      })
    }
  return samples
}

/** Counters that became smaller have begun again, and what they counted meanwhile is not known. */
function attemptsSince(before: SeriesMetrics | undefined, { processed, failed }: SeriesMetrics) {
  const jobs = (processed ?? 0) - (before?.processed ?? processed ?? 0)
  const failedJobs = (failed ?? 0) - (before?.failed ?? failed ?? 0)
  return jobs < 0 || failedJobs < 0
    ? { jobs: 0, failed: 0 }
    : { jobs: Math.max(jobs, failedJobs), failed: failedJobs }
}
