import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { TallyHistogram } from './tally-histogram.js'

/** A service's Prometheus registry with the figures every service has. */
export interface Metrics {
  registry: Registry
  httpRequests: Counter<'method' | 'route' | 'status'>
  httpDuration: Histogram<'method' | 'route' | 'status'>
  httpInFlight: Gauge
  /** Every gRPC call with its duration; `grpc_server_handled_total` is counted from it. */
  grpcDuration: TallyHistogram<'method' | 'code'>
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
    httpRequests: new Counter({
      name: 'http_requests_total',
      help: 'HTTP requests answered, by route pattern.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    httpDuration: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the first byte of a request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: secondsBuckets,
      registers,
    }),
    httpInFlight: new Gauge({ name: 'http_requests_in_flight', help: 'HTTP requests under way.', registers }),
    grpcDuration: createGrpcDuration(registers),
  }
}

function createGrpcDuration(registers: Registry[]): TallyHistogram<'method' | 'code'> {
  const duration = new TallyHistogram({
    name: 'grpc_server_handling_seconds',
    help: 'Time from the arrival of a gRPC call to its answer.',
    labelNames: ['method', 'code'],
    buckets: secondsBuckets,
    registers,
  })
  new Counter({
    name: 'grpc_server_handled_total',
    help: 'gRPC calls answered, by status code.',
    labelNames: ['method', 'code'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of duration.counts()) this.inc(labels, count)
    },
  })
  return duration
}
