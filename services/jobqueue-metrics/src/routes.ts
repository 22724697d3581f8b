import {
  administratorOrScope,
  type Route,
  refusingUnknown,
  route,
  type StreamSlots,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ReadHistory } from './history/history.js'
import { getHistory } from './history/routes.js'
import type { JobDependencies } from './own-jobs/own-jobs.js'
import { getJob, listJobs, removeJob, retryJob } from './own-jobs/routes.js'
import {
  getMetrics,
  listSources,
  partShapes,
  presentCompound,
  presentJobs,
  presentProcesses,
  presentQueues,
  streamMetrics,
} from './snapshots/routes.js'
import type { Snapshots } from './snapshots/snapshots.js'
import type { StateStreams } from './snapshots/state-streams.js'

interface RouteDependencies {
  snapshots: Snapshots
  readHistory: ReadHistory
  streams: StateStreams
  streamSlots: StreamSlots
}

const mayReadMetrics = administratorOrScope('read_metrics')
const mayManageJobs = administratorOrScope('manage_jobs')

export const jobRoutes = (deps: JobDependencies): Route[] =>
  refusingUnknown([
    route('GET', '/jobqueue/jobs', mayManageJobs, listJobs(deps)),
    route('GET', '/jobqueue/jobs/:queue/:id', mayManageJobs, getJob(deps)),
    route('POST', '/jobqueue/jobs/:queue/:id/retry', mayManageJobs, retryJob(deps)),
    route('DELETE', '/jobqueue/jobs/:queue/:id', mayManageJobs, removeJob(deps)),
  ])

/** Every path exists twice, because GitLab's clients use `/sidekiq/…`. As in GitLab, an unknown parameter counts for nothing there. */
export const metricRoutes = ({
  snapshots,
  readHistory,
  streams,
  streamSlots,
}: RouteDependencies): Route[] => {
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
  const below = (base: string) => [
    route('GET', `${base}/sources`, mayReadMetrics, listSources(snapshots)),
    route('GET', `${base}/queue_metrics`, mayReadMetrics, ofQueues),
    route('GET', `${base}/process_metrics`, mayReadMetrics, ofProcesses),
    route('GET', `${base}/job_stats`, mayReadMetrics, ofJobs),
    route('GET', `${base}/compound_metrics`, mayReadMetrics, compound),
    route('GET', `${base}/history`, mayReadMetrics, getHistory(readHistory)),
    route('GET', `${base}/stream`, mayReadMetrics, streamMetrics(snapshots, streams, streamSlots), {
      longLived: true,
    }),
  ]
  return [...refusingUnknown(below('/jobqueue')), ...below('/sidekiq')]
}
