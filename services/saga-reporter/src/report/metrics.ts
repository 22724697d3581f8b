import type { EventResult, RawSagaEvent } from '@switchyard/domain/saga'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter, Gauge, Histogram } from 'prom-client'

type Operation = RawSagaEvent['operation']

/** The result of a report: `failed` when it could not be stored now. */
export type ReportResult = 'recorded' | 'duplicate' | 'late' | 'parked' | 'conflict' | 'rejected' | 'failed'

/** Returns the label of a recorded event. */
export const reportResultOf = (result: EventResult): ReportResult =>
  result === 'conflict recorded' ? 'conflict' : result

export interface ReportMetrics {
  reported(operation: Operation, result: ReportResult, seconds: number): void
  /** Counts a finished batch; `stored` is false when the database could not store it. */
  batch(events: number, seconds: number, stored: boolean): void
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const events = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

export function createReportMetrics({ registry }: Pick<Metrics, 'registry'>): ReportMetrics {
  const registers = [registry]
  const labelNames = ['op', 'result'] as const
  const duration = new Histogram({
    name: 'saga_event_ingest_duration_seconds',
    help: 'Time from the arrival of an event to its answer.',
    labelNames,
    buckets: seconds,
    registers,
  })
  const total = new Counter({
    name: 'saga_events_total',
    help: 'Events that were reported, by their result.',
    labelNames,
    registers,
  })
  const batchSize = new Histogram({
    name: 'saga_ingest_batch_size',
    help: 'Events that were written in one transaction.',
    buckets: events,
    registers,
  })
  const batchDuration = new Histogram({
    name: 'saga_ingest_batch_duration_seconds',
    help: 'Time to write a batch of events.',
    buckets: seconds,
    registers,
  })
  const failures = new Gauge({
    name: 'saga_ingest_consecutive_failures',
    help: 'Batches in a row that PostgreSQL could not store; 0 after a success.',
    registers,
  })
  return {
    reported(op, result, took) {
      total.inc({ op, result })
      duration.observe({ op, result }, took)
    },
    batch(count, took, stored) {
      batchSize.observe(count)
      batchDuration.observe(took)
      if (stored) failures.set(0)
      else failures.inc()
    },
  }
}
