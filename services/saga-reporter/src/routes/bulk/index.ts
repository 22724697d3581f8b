import { administrator, administratorOrScope, type Route, route } from '@switchyard/service-kit/http'
import type { BulkDependencies } from './bulk-parameters.js'
import { getBulkJob, listBulkJobs, listBulkResults } from './read-bulk.js'
import { cancelBulk, previewBulk, startBulk, undoBulk } from './start-bulk.js'

const base = '/sagas/bulk'

/** The routes of jobs that change every saga of a filter. */
export function bulkRoutes(dependencies: BulkDependencies): Route[] {
  const reader = administratorOrScope('read_sagas')
  return [
    route('GET', base, reader, listBulkJobs(dependencies)),
    route('POST', base, administrator, startBulk(dependencies), { refusesUnknown: true }),
    route('POST', `${base}/preview`, administrator, previewBulk(dependencies), { refusesUnknown: true }),
    route('GET', `${base}/:id`, reader, getBulkJob(dependencies)),
    route('GET', `${base}/:id/results`, reader, listBulkResults(dependencies)),
    route('POST', `${base}/:id/cancel`, administrator, cancelBulk(dependencies)),
    route('POST', `${base}/:id/undo`, administrator, undoBulk(dependencies)),
  ]
}
