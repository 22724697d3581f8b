import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** A service's Prometheus registry with the metrics that every service has. */
export interface Metrics {
  registry: Registry
  httpInFlight: Gauge
  /** Counts and times an answered HTTP request. */
  httpRequest(labels: { method: string; route: string; status: string }, seconds: number): void
}

/** Bounds of the histograms of durations of calls. */
export const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Creates the metrics of a service.
 *
 * @param service value of the label `service` on every metric
 */
export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  // The default of ten milliseconds wakes an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })
  const registers = [registry]
  return {
    registry,
    httpInFlight: new Gauge({ name: 'http_requests_in_flight', help: 'HTTP requests under way.', registers }),
    httpRequest: createHttpMetrics(registers),
  }
}

function createHttpMetrics(registers: Registry[]): Metrics['httpRequest'] {
  const labelNames = ['method', 'route', 'status'] as const
  const total = new Counter({
    name: 'http_requests_total',
    help: 'HTTP requests answered, by route pattern.',
    labelNames,
    registers,
  })
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames,
    buckets: secondsBuckets,
    registers,
  })
  return (labels, seconds) => {
    total.inc(labels)
    duration.observe(labels, seconds)
  }
}
