import { quantile } from 'simple-statistics'
import type { Moments, QueueSample, SagaRun, ServiceHistory } from './find-impact.js'
import { medianOf } from './statistics.js'

/** A saga that ended, failed or is stuck. */
export interface ObservedRun extends SagaRun {
  /** Whether everything was undone, for a failed saga. */
  compensated: boolean
}

// These are types, because TypeScript does not accept an interface as a JSON value, and the database stores
// figures as JSON.

/** The figures of the sagas of a service in a window. Times are in seconds. */
export type WindowMetrics = {
  /** Number of sagas that ended, failed or are stuck. */
  sagas: number
  /** Number of failed sagas without the compensated ones. */
  failed: number
  compensated: number
  stuck: number
  /** Number of sagas that succeeded. The durations are those of these sagas. */
  timed: number
  durationP50: number | null
  durationP95: number | null
}

/** The figures of the queues of a service in a window. Times are in seconds. */
export type QueueMetrics = {
  /** Number of samples of the latency, one for each minute. */
  samples: number
  latencyP50: number | null
  latencyP95: number | null
  /** Attempts at jobs. */
  jobs: number
  failedJobs: number
}

/** A failure of the window after a deployment that did not happen in the 14 days before. */
export type NewFailure = {
  fingerprint: string
  sagas: number
  /** Unix milliseconds. */
  firstAt: number
}

/** The figures of a service before and after a deployment. */
export type ServiceMetrics = {
  tenant: string
  /** Name of the service. */
  service: string
  before: WindowMetrics
  after: WindowMetrics
  /** The most frequent new failures. */
  newFailures: NewFailure[]
  /**
   * Whether services that were not deployed became worse at the same moment, so that the deployment is not
   * blamed.
   */
  commonCause: boolean
}

/** The figures of the queues of a service before and after a deployment. They belong to no tenant. */
export type ServiceQueues = {
  /** Name of the service. */
  service: string
  before: QueueMetrics
  after: QueueMetrics
  /** Whether queues of services that were not deployed became worse at the same moment. */
  commonCause: boolean
}

export interface ObservedHistory extends ServiceHistory {
  runs: readonly ObservedRun[]
}

const newFailuresMax = 20

/** Returns the figures of both windows, without the common cause. */
export function metricsOf(history: ObservedHistory, { from, startedAt, to }: Moments) {
  return {
    before: windowMetrics(history, from, startedAt),
    after: windowMetrics(history, startedAt, to),
    newFailures: newFailuresOf(history, startedAt, to),
  }
}

/** Returns the figures of both windows, without the common cause. */
export const queueMetricsOf = (samples: readonly QueueSample[], { from, startedAt, to }: Moments) => ({
  before: queueMetrics(samples, from, startedAt),
  after: queueMetrics(samples, startedAt, to),
})

function queueMetrics(samples: readonly QueueSample[], from: number, to: number): QueueMetrics {
  const within = samples.filter(({ at }) => at >= from && at < to)
  const latencies = within.flatMap(({ latencySeconds }) => latencySeconds ?? [])
  return {
    samples: latencies.length,
    latencyP50: medianOf(latencies),
    latencyP95: p95Of(latencies),
    jobs: within.reduce((sum, { jobs }) => sum + jobs, 0),
    failedJobs: within.reduce((sum, { failed }) => sum + failed, 0),
  }
}

const p95Of = (values: number[]): number | null => (values.length === 0 ? null : quantile(values, 0.95))

function windowMetrics({ runs }: ObservedHistory, from: number, to: number): WindowMetrics {
  const within = runs.filter(({ at }) => at >= from && at < to)
  const seconds = within.flatMap((run) => (run.seconds === null || run.failed ? [] : [run.seconds]))
  return {
    sagas: within.length,
    failed: within.filter(({ failed, compensated }) => failed && !compensated).length,
    compensated: within.filter(({ compensated }) => compensated).length,
    stuck: within.filter(({ stuck }) => stuck).length,
    timed: seconds.length,
    durationP50: medianOf(seconds),
    durationP95: p95Of(seconds),
  }
}

function newFailuresOf({ runs, knownFingerprints }: ObservedHistory, from: number, to: number): NewFailure[] {
  const found = new Map<string, NewFailure>()
  for (const { at, failed, fingerprint } of runs) {
    if (!failed || fingerprint === null || at < from || at >= to || knownFingerprints.has(fingerprint))
      continue
    const { sagas, firstAt } = found.get(fingerprint) ?? { sagas: 0, firstAt: at }
    found.set(fingerprint, { fingerprint, sagas: sagas + 1, firstAt: Math.min(firstAt, at) })
  }
  return [...found.values()].sort((a, b) => b.sagas - a.sagas).slice(0, newFailuresMax)
}
