import { administratorOrScope, type Route, route } from '@switchyard/service-kit/http'
import type { ReadSnapshot } from '../snapshot/snapshots.js'
import { getCompoundMetrics } from './get-compound-metrics.js'
import { getJobStats } from './get-job-stats.js'
import { getProcessMetrics } from './get-process-metrics.js'
import { getQueueMetrics } from './get-queue-metrics.js'

const mayReadMetrics = administratorOrScope('read_metrics')

/** The contract's paths, and the same under the name that GitLab's clients know. */
export const routes = (readSnapshot: ReadSnapshot): Route[] =>
  ['/jobqueue', '/sidekiq'].flatMap((base) => [
    route('GET', `${base}/queue_metrics`, mayReadMetrics, getQueueMetrics(readSnapshot)),
    route('GET', `${base}/process_metrics`, mayReadMetrics, getProcessMetrics(readSnapshot)),
    route('GET', `${base}/job_stats`, mayReadMetrics, getJobStats(readSnapshot)),
    route('GET', `${base}/compound_metrics`, mayReadMetrics, getCompoundMetrics(readSnapshot)),
  ])
