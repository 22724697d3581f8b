import type { Telemetry } from 'bullmq'

/** What the parts of a process need while traces are on. */
export interface Tracing {
  /** For queues and workers of BullMQ: a job goes on with the trace that added it. */
  jobs: Telemetry
  /** `trace_id` and `span_id` of the current span; nothing without one. */
  logFields(): Record<string, string>
  /** Names the current HTTP request by the pattern of its route. */
  nameRequest(route: string): void
  /** The current span as a header `traceparent`; nothing without one. */
  headers(): Record<string, string>
  /** Runs work in a new span below the one that a header `traceparent` names. */
  within<T>(headers: Record<string, string>, name: string, work: () => Promise<T>): Promise<T>
  /**
   * Each call of servers that are made from now on has a span, below the one that its metadata `traceparent` names.
   *
   * @param grpc the default export of `@grpc/grpc-js`
   */
  instrumentGrpc(grpc: object): void
  /** Sends what is left. Never rejects, and ends in time when the receiver does not answer. */
  close(): Promise<void>
}
