import { endpoint, integer, ok, pageParameters, pageReply, rowId, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import {
  bulkJobShape,
  bulkResultShape,
  presentBulkJob,
  presentBulkResult,
} from '../../presenters/bulk-job.js'
import {
  getBulkJob as findJob,
  listBulkJobs as listJobs,
  listBulkResults as listResults,
} from '../../use-cases/bulk-jobs.js'
import { bulkItemStateParameter, tenantParameter } from '../../wire/search-parameters.js'
import { cursorHeaders, cursorReply } from '../cursor-reply.js'
import type { BulkDependencies } from './bulk-parameters.js'

/** `GET /sagas/bulk` */
export const listBulkJobs = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'Bulk jobs, the newest first',
    replies: { 200: z.array(bulkJobShape) },
    input: z.object({ ...tenantParameter, ...pageParameters }),
    async handle({ tenant, ...page }, _caller, call) {
      const { jobs, total } = await listJobs(database, tenant, rowsOf(page))
      return pageReply(jobs.map(presentBulkJob), page, total, call)
    },
  })

/** `GET /sagas/bulk/:id` */
export const getBulkJob = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'One bulk job and its progress',
    replies: { 200: bulkJobShape },
    input: z.object({ ...tenantParameter, id: rowId() }),
    handle: async ({ tenant, id }) => ok(presentBulkJob(await findJob(database, tenant, id))),
  })

/** `GET /sagas/bulk/:id/results` */
export const listBulkResults = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'What a bulk job did with each of its sagas',
    replies: { 200: z.array(bulkResultShape) },
    headers: cursorHeaders,
    input: z.object({
      ...tenantParameter,
      id: rowId(),
      state: bulkItemStateParameter.optional(),
      per_page: pageParameters.per_page,
      after: integer()
        .refine((value) => value >= 0 && value <= 2_147_483_647, { error: 'does not have a valid value' })
        .default(0)
        .meta({ description: 'Results after this position' }),
    }),
    async handle({ tenant, id, state, per_page, after }, _caller, call) {
      const { items, hasMore } = await listResults(database, { tenant, id }, { state, after, take: per_page })
      const last = items.at(-1)
      const next = hasMore && last ? { parameter: 'after', value: String(last.position) } : null
      return cursorReply(items.map(presentBulkResult), per_page, next, call)
    },
  })
