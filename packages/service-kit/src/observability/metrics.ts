import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { TallyHistogram } from './tally-histogram.js'

/** A service's Prometheus registry with the figures every service has. */
export interface Metrics {
  registry: Registry
  /** Every HTTP request with its duration; `http_requests_total` is counted from it. */
  httpDuration: TallyHistogram<'method' | 'route' | 'status'>
  httpInFlight: Gauge
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** @param service value of the label `service` on every figure */
export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    httpDuration: createHttpDuration(registers),
    httpInFlight: new Gauge({ name: 'http_requests_in_flight', help: 'HTTP requests under way.', registers }),
  }
}

function createHttpDuration(registers: Registry[]): TallyHistogram<'method' | 'route' | 'status'> {
  const duration = new TallyHistogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: secondsBuckets,
    registers,
  })
  countFrom(duration, 'http_requests_total', 'HTTP requests answered, by route pattern.', registers)
  return duration
}

/** A counter with the labels of a histogram: how many observations there were. */
function countFrom<Label extends string>(
  histogram: TallyHistogram<Label>,
  name: string,
  help: string,
  registers: Registry[],
): void {
  new Counter({
    name,
    help,
    labelNames: histogram.labelNames,
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of histogram.counts()) this.inc(labels, count)
    },
  })
}
