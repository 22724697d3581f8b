import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { TakenSnapshot } from '../sources/shared-source.js'
import type { Snapshots } from '../use-cases/read-snapshots.js'
import { type Figure, queueFigures, type ServedQueue, servedQueues, sourceFigures } from './source-figures.js'

interface Exposed<Of> {
  reset(): void
  show(labels: Record<string, string>, of: Of): void
}

interface Exposing {
  registry: Registry
  collect: () => Promise<void>
}

/**
 * Figures of the sources themselves, read when Prometheus asks. Those of a source that does not answer are left
 * out, because its last known figures would look current.
 */
export function exposeSources({ registry }: Metrics, snapshots: Snapshots): void {
  let refreshing: Promise<void> | null = null
  /** Prometheus' client collects each figure separately and at the same time; all of them share one read. */
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
  const ofSources = sourceFigures.map((figure) => expose(figure, ['source'], exposing))
  const ofQueues = queueFigures.map((figure) => expose(figure, ['source', 'queue'], exposing))

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
  { name, help, type, read }: Figure<Of>,
  labelNames: string[],
  { registry, collect }: Exposing,
): Exposed<Of> {
  const options = { name, help, labelNames, registers: [registry], collect }
  // Both are reset before each scrape, so adding the total sets it.
  const metric = type === 'gauge' ? new Gauge(options) : new Counter(options)
  return {
    reset: () => metric.reset(),
    show(labels, of) {
      const value = read(of)
      if (value !== null) metric.inc(labels, value)
    },
  }
}
