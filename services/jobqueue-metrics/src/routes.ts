import { type Route, refusingUnknown } from '@switchyard/service-kit/http'
import type { ReadHistory } from './history/history.js'
import { historyRoutes } from './history/routes.js'
import type { JobDependencies } from './own-jobs/own-jobs.js'
import { jobRoutes } from './own-jobs/routes.js'
import { type SnapshotDependencies, snapshotRoutes } from './snapshots/routes.js'

type MetricDependencies = SnapshotDependencies & { readHistory: ReadHistory }

/**
 * Endpoints for metrics. Each path exists twice, because GitLab's clients use `/sidekiq/…`. As in GitLab, an
 * unknown parameter is ignored there.
 */
export function metricRoutes(deps: MetricDependencies): Route[] {
  const below = (base: string) => [...snapshotRoutes(base, deps), ...historyRoutes(base, deps.readHistory)]
  return [...refusingUnknown(below('/jobqueue')), ...below('/sidekiq')]
}

/** The routes of this service. */
export const routes = (deps: MetricDependencies & JobDependencies): Route[] => [
  ...metricRoutes(deps),
  ...jobRoutes(deps),
]
