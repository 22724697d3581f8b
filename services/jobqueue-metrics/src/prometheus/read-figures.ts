import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter, Histogram } from 'prom-client'

const readBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2]

/** Prometheus figures about reading the sources. */
export function createReadFigures({ registry }: Metrics) {
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
