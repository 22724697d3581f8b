import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Snapshots } from '../snapshots/snapshots.js'
import type { TakenSnapshot } from '../sources/sources.js'
import { type Metric, queueMetrics, type ServedQueue, servedQueues, sourceMetrics } from './source-metrics.js'

const readBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2]

export function createReadMetrics({ registry }: Metrics) {
  const duration = new Histogram({
    name: 'jobqueue_snapshot_duration_seconds',
    help: 'Time a read of a whole source took.',
    labelNames: ['source'],
    buckets: readBuckets,
    registers: [registry],
  })
  const failures = new Counter({
    name: 'jobqueue_snapshot_failures_total',
    help: 'Reads of a source that failed or took too long.',
    labelNames: ['source'],
    registers: [registry],
  })
  return {
    onRead(source: string, seconds: number, hasFailed: boolean): void {
      duration.observe({ source }, seconds)
      failures.inc({ source }, hasFailed ? 1 : 0)
    },
  }
}

interface Exposed<Of> {
  reset(): void
  show(labels: Record<string, string>, of: Of): void
}

interface Exposing {
  registry: Registry
  collect: () => Promise<void>
}

/**
 * Exports metrics of the sources themselves, read for each scrape. Metrics of a source that does not answer
 * are left out, because its last known metrics would look current.
 */
export function exposeSources({ registry }: Metrics, snapshots: Snapshots): void {
  let refreshing: Promise<void> | null = null
  /** Prometheus' client collects each metric separately and in parallel; all of them share one read. */
  const collect = () => {
    refreshing ??= refresh().finally(() => {
      refreshing = null
    })
    return refreshing
  }
  const exposing = { registry, collect }
  const up = new Gauge({
    name: 'jobqueue_source_up',
    help: '1 when the source answers, else 0.',
    labelNames: ['source'],
    registers: [registry],
    collect,
  })
  const ofSources = sourceMetrics.map((metric) => expose(metric, ['source'], exposing))
  const ofQueues = queueMetrics.map((metric) => expose(metric, ['source', 'queue'], exposing))

  async function refresh(): Promise<void> {
    const outcomes = await Promise.allSettled(snapshots.names.map((source) => snapshots.read(source)))
    for (const exposed of [...ofSources, ...ofQueues]) exposed.reset()
    for (const [index, source] of snapshots.names.entries()) {
      const outcome = outcomes[index]
      up.set({ source }, outcome?.status === 'fulfilled' ? 1 : 0)
      if (outcome?.status === 'fulfilled') show(source, outcome.value, ofSources, ofQueues)
    }
  }
}

function show(
  source: string,
  snapshot: TakenSnapshot,
  ofSources: Exposed<TakenSnapshot>[],
  ofQueues: Exposed<ServedQueue>[],
): void {
  for (const exposed of ofSources) exposed.show({ source }, snapshot)
  for (const queue of servedQueues(snapshot)) {
    for (const exposed of ofQueues) exposed.show({ source, queue: queue.name }, queue)
  }
}

function expose<Of>(
  { name, help, type, read }: Metric<Of>,
  labelNames: string[],
  { registry, collect }: Exposing,
): Exposed<Of> {
  const options = { name, help, labelNames, registers: [registry], collect }
  // Metrics are reset before each scrape, so adding the total sets it.
  const metric = type === 'gauge' ? new Gauge(options) : new Counter(options)
  return {
    reset: () => metric.reset(),
    show(labels, of) {
      const value = read(of)
      if (value !== null) metric.inc(labels, value)
    },
  }
}
