import { type SeriesMetrics, seriesKey } from '@switchyard/contracts/jobs'
import { runningJobs, type SourceSnapshot } from '../sources/sources.js'

/** Returns the metrics of a source as entries of a sample: the whole source, then each queue. */
export function metricsOf(source: string, snapshot: SourceSnapshot): [string, SeriesMetrics][] {
  const { queues, jobs } = snapshot
  const ofSource: SeriesMetrics = {
    backlog: queues.reduce((sum, { backlog }) => sum + backlog, 0),
    latency: queues.reduce((max, { latencySeconds }) => Math.max(max, latencySeconds), 0),
    processed: jobs.processed,
    failed: jobs.failed,
    busy: runningJobs(snapshot),
  }
  return [
    [seriesKey(source, null), ofSource],
    ...queues.map(
      ({ name, backlog, latencySeconds: latency, processed, failed, busy }): [string, SeriesMetrics] => [
        seriesKey(source, name),
        { backlog, latency, processed, failed, busy },
      ],
    ),
  ]
}

/** Merges metrics of several sources: the longest latency, and the sums of the other metrics. */
export function mergeMetrics(all: SeriesMetrics[]): SeriesMetrics {
  const known = (metric: keyof SeriesMetrics) =>
    all.map((each) => each[metric]).filter((value) => value !== null)
  const sum = (metric: keyof SeriesMetrics) => {
    const values = known(metric)
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
