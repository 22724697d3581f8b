import { runningJobs, type SourceSnapshot } from '../sources/sources.js'

/** Metrics of a queue, or of a whole source, at one moment; null where a metric is not known. */
export interface Metrics {
  backlog: number | null
  /** Whole seconds. */
  latency: number | null
  /** Attempts ever made. */
  processed: number | null
  failed: number | null
  busy: number | null
}

/** Metrics of every source that answered at one moment, and of its queues. */
export interface Sample {
  atMs: number
  metrics: Map<string, Metrics>
}

/** Key of the series of a queue; without a queue, of the whole source. */
export const seriesKey = (source: string, queue: string | null) => `${source}\n${queue ?? ''}`

/** The metrics of one source as entries of a sample: the whole source, then each queue. */
export function metricsOf(source: string, snapshot: SourceSnapshot): [string, Metrics][] {
  const { queues, jobs } = snapshot
  const whole: Metrics = {
    backlog: queues.reduce((sum, { backlog }) => sum + backlog, 0),
    latency: queues.reduce((max, { latencySeconds }) => Math.max(max, latencySeconds), 0),
    processed: jobs.processed,
    failed: jobs.failed,
    busy: runningJobs(snapshot),
  }
  return [
    [seriesKey(source, null), whole],
    ...queues.map(
      ({ name, backlog, latencySeconds: latency, processed, failed, busy }): [string, Metrics] => [
        seriesKey(source, name),
        { backlog, latency, processed, failed, busy },
      ],
    ),
  ]
}

/** Metrics of several sources as one: the longest latency, and the sums of the other metrics. */
export function mergeMetrics(all: Metrics[]): Metrics {
  const known = (part: keyof Metrics) => all.map((each) => each[part]).filter((value) => value !== null)
  const sum = (part: keyof Metrics) => {
    const values = known(part)
    return values.length < all.length || values.length === 0 ? null : values.reduce((a, b) => a + b)
  }
  const latencies = known('latency')
  return {
    backlog: sum('backlog'),
    latency: latencies.length === 0 ? null : Math.max(...latencies),
    processed: sum('processed'),
    failed: sum('failed'),
    busy: sum('busy'),
  }
}
