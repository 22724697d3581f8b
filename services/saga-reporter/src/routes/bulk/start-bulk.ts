import type { Caller } from '@switchyard/domain/access'
import { accepted, created, endpoint, integer, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import {
  bulkJobShape,
  bulkPreviewShape,
  presentBulkJob,
  presentBulkPreview,
} from '../../presenters/bulk-job.js'
import { cancelBulkJob, previewBulkJob, startBulkJob, undoBulkJob } from '../../use-cases/bulk-jobs.js'
import { bulkActionParameter, tenantParameter } from '../../wire/search-parameters.js'
import { noteText } from '../create-note.js'
import { type BulkDependencies, bulkSearch, filterParameter, operatorOf } from './bulk-parameters.js'

const jobParameters = {
  action: bulkActionParameter,
  note: noteText(),
  expected_count: integer()
    .refine((value) => value >= 0, { error: 'does not have a valid value' })
    .optional()
    .meta({ description: 'Refuses the job when the filter finds another number of sagas' }),
}

/** `POST /sagas/bulk/preview`: what a job with this filter would process. It changes nothing, and may be sent as the job itself. */
export const previewBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'Count the sagas that a bulk job with this filter would process',
    replies: { 200: bulkPreviewShape },
    input: z.object({
      ...tenantParameter,
      filter: filterParameter,
      ...z.object(jobParameters).partial().shape,
    }),
    handle: async ({ tenant, filter }) =>
      ok(presentBulkPreview(await previewBulkJob(database, bulkSearch(tenant, filter)))),
  })

/** `POST /sagas/bulk` */
export const startBulk = (dependencies: BulkDependencies) =>
  endpoint({
    summary: 'Resolve, or write a note about, every saga of a filter',
    replies: { 201: bulkJobShape },
    refusals: [409],
    input: z.object({
      ...tenantParameter,
      ...jobParameters,
      filter: filterParameter,
    }),
    async handle({ tenant, action, note, filter, expected_count }, caller: Caller, call) {
      const job = {
        ...{ action, note, filter, expectedCount: expected_count ?? null },
        ...bulkSearch(tenant, filter),
      }
      return created(presentBulkJob(await startBulkJob(dependencies, job, operatorOf(caller, call))))
    },
  })

/** `POST /sagas/bulk/:id/cancel` */
export const cancelBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'End a running bulk job; the sagas that it has not reached stay as they are',
    replies: { 200: bulkJobShape },
    refusals: [409],
    input: z.object({ ...tenantParameter, id: rowId() }),
    handle: async (job, caller: Caller, call) =>
      ok(presentBulkJob(await cancelBulkJob(database, job, operatorOf(caller, call)))),
  })

/** `POST /sagas/bulk/:id/undo` */
export const undoBulk = (dependencies: BulkDependencies) =>
  endpoint({
    summary: 'Undo the resolutions of a bulk job, except of sagas that have changed since',
    replies: { 202: bulkJobShape },
    refusals: [409],
    input: z.object({ ...tenantParameter, id: rowId() }),
    async handle(job, caller: Caller, call) {
      return accepted(presentBulkJob(await undoBulkJob(dependencies, job, operatorOf(caller, call))))
    },
  })
