import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  type ExportResult,
  ExportResultCode,
  getRPCMetadata,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { InstrumentationBase } from '@opentelemetry/instrumentation'
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { Telemetry } from 'bullmq'
import { BullMQOtel } from 'bullmq-otel'
import { Redis } from 'ioredis'
import pTimeout from 'p-timeout'
import pg from 'pg'
import type { Logger } from 'pino'
import { createOutageLog } from './outage-log.js'

/** The tools of a process while traces are on. */
export interface Tracing {
  /** Telemetry for queues and workers of BullMQ: a job continues the trace that added it. */
  jobs: Telemetry
  /** Returns `trace_id` and `span_id` of the current span; nothing without one. */
  logFields(): Record<string, string>
  /** Names the current HTTP request by the pattern of its route. */
  nameRequest(route: string): void
  /** Returns the current span as a header `traceparent`; nothing without one. */
  headers(): Record<string, string>
  /** Runs work in a new span below the one that a header `traceparent` names. */
  within<T>(headers: Record<string, string>, name: string, work: () => Promise<T>): Promise<T>
  /**
   * Instruments the servers that are created from now on. Each of their calls has a span, below the one that
   * its metadata `traceparent` names.
   *
   * @param grpc the default export of `@grpc/grpc-js`
   */
  instrumentGrpc(grpc: object): void
  /** Sends the remaining spans. Never rejects, and ends in time when the receiver does not answer. */
  close(): Promise<void>
}

const closeMsMax = 1000

/** Starts the provider of this process and instruments what every service uses. */
export function createTracing(service: string, logger: Logger): Tracing {
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service, 'service.namespace': 'switchyard' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportingOutages(new OTLPTraceExporter(), logger))],
  })
  // The exporter reports its outages itself; the library's own handler would write each failure.
  setGlobalErrorHandler(() => {})
  // Baggage of callers is not passed on, because it must not reach the receivers of webhooks.
  provider.register({ propagator: new W3CTraceContextPropagator() })
  instrumentEveryService()
  const tracer = trace.getTracer('switchyard')
  return {
    jobs: new BullMQOtel({ tracerName: 'bullmq' }),
    logFields(): Record<string, string> {
      const span = trace.getActiveSpan()?.spanContext()
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
    },
    nameRequest(route) {
      const request = getRPCMetadata(context.active())
      if (request) request.route = route
    },
    headers(): Record<string, string> {
      const headers: { traceparent?: string } = {}
      propagation.inject(context.active(), headers)
      return headers.traceparent === undefined ? {} : { traceparent: headers.traceparent }
    },
    within(headers, name, work) {
      const parent = propagation.extract(context.active(), headers)
      return tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL }, parent, async (span) => {
        try {
          return await work()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        } finally {
          span.end()
        }
      })
    },
    instrumentGrpc: (grpc) =>
      instrument(new GrpcInstrumentation({ ignoreGrpcMethods: unobserved }), { '@grpc/grpc-js': grpc }),
    async close() {
      await pTimeout(provider.shutdown(), { milliseconds: closeMsMax }).catch(() => {})
    },
  }
}

const unobserved = ['Check', 'Watch', 'ServerReflectionInfo']
const probe = /^\/(-|metrics)(\/|$)/

/**
 * Instruments the libraries of every service. Attributes contain no query, no path of a webhook's target and
 * no argument, because each may be a secret.
 */
function instrumentEveryService(): void {
  const http = new HttpInstrumentation({
    disableOutgoingRequestInstrumentation: true,
    ignoreIncomingRequestHook: ({ url = '' }) => probe.test(url),
    startIncomingSpanHook: () => ({
      'url.query': undefined,
      'http.target': undefined,
      'http.url': undefined,
    }),
  })
  instrument(http, { http: process.getBuiltinModule('node:http') })
  const database = new PgInstrumentation({ requireParentSpan: true })
  instrument(database, { pg, 'pg-pool': Object.getPrototypeOf(pg.Pool) })
  const redis = new IORedisInstrumentation({ dbStatementSerializer: (command) => command })
  instrument(redis, { ioredis: Redis })
  // This instrumentation listens to a channel of Node, so it needs no module. Its constructor starts it.
  new UndiciInstrumentation({
    requireParentforSpans: true,
    startSpanHook: ({ origin }) => ({ 'url.full': origin, 'url.path': undefined, 'url.query': undefined }),
  })
}

function instrument(instrumentation: InstrumentationBase, modules: Record<string, unknown>): void {
  // By name, an instrumentation sees only modules that are loaded after it and outside of a bundle.
  // biome-ignore lint/complexity/useLiteralKeys: it is protected.
  const definitions = [instrumentation['init']() ?? []].flat()
  for (const { name, patch } of definitions) if (modules[name] !== undefined) patch?.(modules[name])
}

/**
 * Wraps an exporter so that it logs the begin and the end of an outage of the receiver. Only the spans of
 * that time are lost.
 */
function reportingOutages(exporter: SpanExporter, logger: Logger): SpanExporter {
  const outage = createOutageLog(logger, {
    lost: 'traces cannot be sent: they are dropped until they can',
    back: 'traces are sent again',
  })
  const note = ({ code, error }: ExportResult) =>
    code === ExportResultCode.SUCCESS ? outage.worked() : outage.failed({ err: error })
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result)
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}
