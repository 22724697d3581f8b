import { administrator, administratorOrScope, type Route } from '@switchyard/service-kit/http'
import { tenantRoute } from '../tenant-route.js'
import type { BulkDependencies } from './bulk-parameters.js'
import { getBulkJob, listBulkJobs, listBulkResults } from './read-bulk.js'
import { cancelBulk, previewBulk, startBulk, undoBulk } from './start-bulk.js'

const base = '/sagas/bulk'

/** The routes of jobs that change every saga of a filter. */
export function bulkRoutes(dependencies: BulkDependencies): Route[] {
  const reader = administratorOrScope('read_sagas')
  return [
    tenantRoute('GET', base, reader, listBulkJobs(dependencies)),
    tenantRoute('POST', base, administrator, startBulk(dependencies), { refusesUnknown: true }),
    tenantRoute('POST', `${base}/preview`, administrator, previewBulk(dependencies), {
      refusesUnknown: true,
    }),
    tenantRoute('GET', `${base}/:id`, reader, getBulkJob(dependencies)),
    tenantRoute('GET', `${base}/:id/results`, reader, listBulkResults(dependencies)),
    tenantRoute('POST', `${base}/:id/cancel`, administrator, cancelBulk(dependencies)),
    tenantRoute('POST', `${base}/:id/undo`, administrator, undoBulk(dependencies)),
  ]
}
