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

/** Samples in memory at once while the history is read; one of 2,000 queues takes half a megabyte. */
const readAtOnce = 10
const samplesMax = 1440
/** Largest gap between two samples whose difference is attributed to the later one. */
const gapMsMax = 180_000
/** Most queues of services that were not deployed that are compared. */
const othersMax = 30

interface QueuesQuestion {
  /**
   * Returns the names of the groups of a series; called once for each series. The series of a whole source
   * has the queue ''.
   */
  groupsOf: (series: NamedQueue) => readonly string[]
  fromMs: number
  toMs: number
}

/** Samples of queues, by group and time, in the minutes that the history covers. */
export interface Queues {
  /** Whether the history covers any minute of the requested time. */
  isKnown: boolean
  groups: Map<string, QueueSample[]>
}

/**
 * Returns the groups of the services. For a source with the name of a service, the whole source counts,
 * because not every source counts attempts by queue.
 */
export const groupsOfServices =
  (services: readonly string[]): QueuesQuestion['groupsOf'] =>
  ({ source, queue }) =>
    services.filter((serviceName) =>
      source === serviceName ? queue === '' : isQueueOf(serviceName, { source, queue }),
    )

/** Groups some queues that belong to none of the services, each as its own group. */
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

/** Yields samples, latest first. When a sample is saved meanwhile, another one may be yielded twice. */
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

/**
 * Returns the sample of each group at one moment: the longest latency, and the attempts since the previous
 * moment.
 */
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

/** Returns the new attempts. Counters that became smaller were reset, and their increments are unknown. */
function attemptsSince(before: SeriesMetrics | undefined, { processed, failed }: SeriesMetrics) {
  const jobs = (processed ?? 0) - (before?.processed ?? processed ?? 0)
  const failedJobs = (failed ?? 0) - (before?.failed ?? failed ?? 0)
  return jobs < 0 || failedJobs < 0
    ? { jobs: 0, failed: 0 }
    : { jobs: Math.max(jobs, failedJobs), failed: failedJobs }
}
