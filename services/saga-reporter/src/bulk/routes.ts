import type { Caller } from '@switchyard/domain/access'
import {
  accepted,
  administrator,
  auditAuthor,
  type Call,
  created,
  endpoint,
  integer,
  ok,
  pageParameters,
  pageReply,
  type Route,
  rowId,
  rowsOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { cursorHeaders, cursorReply } from '../shapes/paging.js'
import { filterParameter, noteText, searchOf, tenantParameter } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import type { BulkDependencies } from './bulk.js'
import * as bulk from './bulk.js'
import { bulkActions, bulkItemStates } from './job.js'
import {
  bulkJobShape,
  bulkPreviewShape,
  bulkResultShape,
  presentBulkJob,
  presentBulkPreview,
  presentBulkResult,
} from './present.js'
import type { BulkOperator } from './store.js'

const base = '/sagas/bulk'

/** The routes of jobs that change every saga of a filter. */
export function bulkRoutes(deps: BulkDependencies): Route[] {
  return [
    tenantRoute('GET', base, sagaReader, listBulk(deps)),
    tenantRoute('POST', base, administrator, startBulk(deps), { refusesUnknown: true }),
    tenantRoute('POST', `${base}/preview`, administrator, previewBulk(deps), {
      refusesUnknown: true,
    }),
    tenantRoute('GET', `${base}/:id`, sagaReader, getBulk(deps)),
    tenantRoute('GET', `${base}/:id/results`, sagaReader, listBulkResults(deps)),
    tenantRoute('POST', `${base}/:id/cancel`, administrator, cancelBulk(deps)),
    tenantRoute('POST', `${base}/:id/undo`, administrator, undoBulk(deps)),
  ]
}

const operatorOf = (caller: Caller, call: Call): BulkOperator => ({
  userId: caller.user.id,
  name: caller.user.username,
  audit: auditAuthor(caller, call),
})

const listBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'List bulk jobs, newest first',
    replies: { 200: z.array(bulkJobShape) },
    input: z.object({ ...tenantParameter, ...pageParameters }),
    async handle({ tenant, ...page }, _caller, call) {
      const { jobs, total } = await bulk.listBulkJobs(database, tenant, rowsOf(page))
      return pageReply(jobs.map(presentBulkJob), page, total, call)
    },
  })

const getBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'Get a bulk job and its progress',
    replies: { 200: bulkJobShape },
    input: z.object({ ...tenantParameter, id: rowId() }),
    handle: async ({ tenant, id }) => ok(presentBulkJob(await bulk.getBulkJob(database, tenant, id))),
  })

const listBulkResults = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'List the results of a bulk job by saga',
    replies: { 200: z.array(bulkResultShape) },
    headers: cursorHeaders,
    input: z.object({
      ...tenantParameter,
      id: rowId(),
      state: z.enum(bulkItemStates).optional(),
      per_page: pageParameters.per_page,
      after: integer(0, 2_147_483_647).default(0).meta({ description: 'Only results after this position' }),
    }),
    async handle({ tenant, id, state, per_page, after }, _caller, call) {
      const { items, hasMore } = await bulk.listBulkResults(
        database,
        { tenant, id },
        { state, after, take: per_page },
      )
      const last = items.at(-1)
      const next = hasMore && last ? { parameter: 'after', value: String(last.position) } : null
      return cursorReply(items.map(presentBulkResult), per_page, next, call)
    },
  })

const jobParameters = {
  action: z.enum(bulkActions),
  note: noteText(),
  expected_count: integer(0)
    .optional()
    .meta({ description: 'Number of sagas that the filter must match; otherwise the job is refused' }),
}

/**
 * `POST /sagas/bulk/preview`: shows what a job with this filter would process, and changes nothing. It takes
 * the same body as the job.
 */
const previewBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'Count the sagas that a bulk job with this filter would process',
    replies: { 200: bulkPreviewShape },
    input: z.object({
      ...tenantParameter,
      filter: filterParameter,
      ...z.object(jobParameters).partial().shape,
    }),
    handle: async ({ tenant, filter }) =>
      ok(presentBulkPreview(await bulk.previewBulkJob(database, searchOf(tenant, filter)))),
  })

const startBulk = (deps: BulkDependencies) =>
  endpoint({
    summary: 'Create a bulk job that resolves or annotates all sagas that match a filter',
    replies: { 201: bulkJobShape },
    refusals: [409],
    input: z.object({
      ...tenantParameter,
      ...jobParameters,
      filter: filterParameter,
    }),
    async handle({ tenant, action, note, filter, expected_count }, caller: Caller, call) {
      const job = {
        action,
        note,
        filter,
        expectedCount: expected_count ?? null,
        ...searchOf(tenant, filter),
      }
      return created(presentBulkJob(await bulk.startBulkJob(deps, job, operatorOf(caller, call))))
    },
  })

const cancelBulk = ({ database }: BulkDependencies) =>
  endpoint({
    summary: 'Cancel a running bulk job; sagas that it has not processed remain unchanged',
    replies: { 200: bulkJobShape },
    refusals: [409],
    input: z.object({ ...tenantParameter, id: rowId() }),
    handle: async ({ tenant, id }, caller: Caller, call) =>
      ok(presentBulkJob(await bulk.cancelBulkJob(database, { tenant, id }, auditAuthor(caller, call)))),
  })

const undoBulk = (deps: BulkDependencies) =>
  endpoint({
    summary: 'Undo the resolutions of a bulk job, except for sagas that have changed since',
    replies: { 202: bulkJobShape },
    refusals: [409],
    input: z.object({ ...tenantParameter, id: rowId() }),
    async handle(job, caller: Caller, call) {
      return accepted(presentBulkJob(await bulk.undoBulkJob(deps, job, operatorOf(caller, call))))
    },
  })
