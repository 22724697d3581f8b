import { administratorOrScope, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { History } from '../history/history.js'
import {
  partShapes,
  presentCompound,
  presentJobs,
  presentProcesses,
  presentQueues,
} from '../presenters/metrics.js'
import type { Snapshots } from '../snapshot/snapshots.js'
import type { Streams } from '../stream/streams.js'
import { getHistory } from './get-history.js'
import { getMetrics } from './get-metrics.js'
import { streamMetrics } from './stream-metrics.js'

export interface RouteDependencies {
  snapshots: Snapshots
  history: History
  streams: Streams
}

const mayReadMetrics = administratorOrScope('read_metrics')

/** The contract's paths and ours, and the same under the name that GitLab's clients know. */
export const routes = ({ snapshots, history, streams }: RouteDependencies): Route[] => {
  const { queues, processes, jobs } = partShapes
  const ofQueues = getMetrics(snapshots, 'Queues of jobs', z.object({ queues }), (snapshot, extended) => ({
    queues: presentQueues(snapshot, extended),
  }))
  const ofProcesses = getMetrics(
    snapshots,
    'Processes that work on jobs',
    z.object({ processes }),
    (snapshot, extended, nowMs) => ({ processes: presentProcesses(snapshot, extended, nowMs) }),
  )
  const ofJobs = getMetrics(snapshots, 'Totals of jobs', z.object({ jobs }), (snapshot, extended) => ({
    jobs: presentJobs(snapshot, extended),
  }))
  const compound = getMetrics(
    snapshots,
    'Queues, processes and totals in one answer',
    z.object(partShapes),
    presentCompound,
  )
  return ['/jobqueue', '/sidekiq'].flatMap((base) => [
    route('GET', `${base}/queue_metrics`, mayReadMetrics, ofQueues),
    route('GET', `${base}/process_metrics`, mayReadMetrics, ofProcesses),
    route('GET', `${base}/job_stats`, mayReadMetrics, ofJobs),
    route('GET', `${base}/compound_metrics`, mayReadMetrics, compound),
    route('GET', `${base}/history`, mayReadMetrics, getHistory(history)),
    route('GET', `${base}/stream`, mayReadMetrics, streamMetrics(snapshots, streams), { longLived: true }),
  ])
}
