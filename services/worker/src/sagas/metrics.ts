import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { createBoundedLabels } from '../bounded-labels.js'
import type { EndedSaga, SagaCount, SagaGauges } from './metrics-store.js'

export interface SagaMetrics {
  showGauges(gauges: SagaGauges): void
  /** Removes the gauges, because another process exports them, or their values are unknown. */
  hideGauges(): void
  ended(saga: EndedSaga): void
  purged(serviceName: string | null): void
  /** Counts anomalies of inconsistent activities, by kind. */
  found(anomalies: readonly string[]): void
}

/** Seconds, from a short call between two services to a process of a week. */
const durationBuckets = [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800]

/** @param servicesMax number of services with their own label; further ones share the label `other` */
export function createSagaMetrics(registry: Registry, servicesMax: number): SagaMetrics {
  const labelOf = createBoundedLabels(servicesMax)
  const gauges = createGauges(registry)
  const { ended, duration, purged, anomalies } = createCounters(registry)
  const hideGauges = () => {
    for (const gauge of Object.values(gauges)) gauge.reset()
    // A reset would set a gauge without labels to 0, which would look like a measured value.
    gauges.parked.remove()
    gauges.failed.remove()
  }
  hideGauges()
  const add = (gauge: Gauge<'service'>, counts: readonly SagaCount[]) => {
    for (const { serviceName, count } of counts) gauge.inc({ service: labelOf(serviceName) }, count)
  }
  return {
    hideGauges,
    showGauges({ open, error, stuck, overdue, parkedActivities }) {
      hideGauges()
      const oldest = new Map<string, number>()
      for (const { serviceName, status, count, oldestSeconds } of open) {
        const service = labelOf(serviceName)
        gauges.open.inc({ service, status }, count)
        oldest.set(service, Math.max(oldest.get(service) ?? 0, oldestSeconds))
      }
      for (const [service, seconds] of oldest) gauges.oldest.set({ service }, seconds)
      add(gauges.error, error)
      add(gauges.stuck, stuck)
      add(gauges.overdue, overdue)
      gauges.parked.set(parkedActivities)
      gauges.failed.set(error.reduce((sum, { count }) => sum + count, 0))
    },
    ended({ serviceName, status, outcome, durationSeconds }) {
      const labels = { service: labelOf(serviceName), outcome: outcome ?? status.toLowerCase() }
      ended.inc(labels)
      // A start that was received after the end yields no duration.
      if (durationSeconds !== null && durationSeconds >= 0) duration.observe(labels, durationSeconds)
    },
    purged: (serviceName) => purged.inc({ service: labelOf(serviceName) }),
    found(kinds) {
      for (const kind of kinds) anomalies.inc({ kind })
    },
  }
}

function createGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  return {
    open: gauge('sagas_open', 'Sagas that have not ended, by status.', ['service', 'status']),
    oldest: gauge('saga_oldest_open_seconds', 'Age of the oldest saga that has not ended.', ['service']),
    error: gauge('sagas_error', 'Sagas in error that nobody has resolved.', ['service']),
    stuck: gauge('sagas_stuck', 'Unfinished sagas of which nothing has been heard for long.', ['service']),
    overdue: gauge('activities_overdue', 'Activities executing past their deadline.', ['service']),
    parked: gauge('activities_parked', 'Activities whose saga nobody has named for long.', []),
    failed: gauge('pole_sagas_server_failed_sagas', 'Sum of sagas_error, under its former name.', []),
  }
}

function createCounters(registry: Registry) {
  const registers = [registry]
  return {
    ended: new Counter({
      name: 'sagas_ended_total',
      help: 'Sagas whose end was reported, by outcome; "error" when a compensation had been given up.',
      labelNames: ['service', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'saga_duration_seconds',
      help: 'From the report of the start of a saga to that of its end.',
      labelNames: ['service', 'outcome'],
      buckets: durationBuckets,
      registers,
    }),
    purged: new Counter({
      name: 'saga_purged_total',
      help: 'Sagas deleted because their time was up.',
      labelNames: ['service'],
      registers,
    }),
    anomalies: new Counter({
      name: 'saga_anomalies_total',
      help: 'Activities whose facts contradict each other, by kind.',
      labelNames: ['kind'],
      registers,
    }),
  }
}
