import type { Database } from '@switchyard/db'
import {
  bigRowId,
  endpoint,
  flag,
  list,
  ok,
  pageParameters,
  pageReply,
  type Route,
  redirect,
  route,
  rowsOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { jobShape, pipelineStates, presentJob } from '../../shapes/pipeline.js'
import * as jobs from './jobs.js'

/** Endpoints that show statuses as GitLab's jobs. */
export function jobRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { readPipelines } = guards
  const path = '/projects/:id/jobs'
  return [
    route('GET', '/projects/:id/pipelines/:pipeline_id/jobs', readPipelines, listJobs(database)),
    route('GET', path, readPipelines, listJobsOfProject(database)),
    route('GET', `${path}/:job_id`, readPipelines, getJob(database)),
    route('GET', `${path}/:job_id/trace`, readPipelines, redirectToTrace(database)),
  ]
}

const listParameters = {
  ...pageParameters,
  scope: z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), list(z.enum(pipelineStates)))
    .optional(),
}

const listJobs = (database: Database) =>
  endpoint({
    summary: 'List the statuses of a pipeline as jobs, newest first',
    replies: { 200: z.array(jobShape) },
    input: z.object({ ...listParameters, pipeline_id: bigRowId(), include_retried: flag().default(false) }),
    async handle({ pipeline_id: id, scope, include_retried, ...page }, access: ProjectCall, call) {
      const query = { states: scope, includeRetried: include_retried }
      const found = await jobs.listJobs(database, access, id, query, rowsOf(page))
      const items = found.jobs.map(({ job, view }) => presentJob(job, view, access.project, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

/** Lists the jobs of a project. As in GitLab, the list includes replaced statuses and has no page numbers. */
const listJobsOfProject = (database: Database) =>
  endpoint({
    summary: 'List the statuses of a project as jobs, newest first',
    replies: { 200: z.array(jobShape) },
    headers: {
      Link: 'The pages `prev`, `next` and `first`',
      'X-Next-Page': 'The next page; empty on the last page',
    },
    input: z.object(listParameters),
    async handle({ scope, ...page }, access: ProjectCall, call) {
      const found = await jobs.listJobsOfProject(database, access, scope, rowsOf(page))
      const items = found.map(({ job, view }) => presentJob(job, view, access.project, call.baseUrl))
      return pageReply(items, page, null, call)
    },
  })

const jobId = { job_id: bigRowId() }

const getJob = (database: Database) =>
  endpoint({
    summary: 'Get a status as a job',
    replies: { 200: jobShape },
    input: z.object(jobId),
    async handle({ job_id }, access: ProjectCall, call) {
      const { job, view } = await jobs.getJob(database, access, job_id)
      return ok(presentJob(job, view, access.project, call.baseUrl))
    },
  })

const redirectToTrace = (database: Database) =>
  endpoint({
    summary: 'Redirect to the target URL of a status; 404 for a status without one',
    replies: { 302: null },
    headers: { Location: 'The target URL of the status' },
    input: z.object(jobId),
    async handle({ job_id }, access: ProjectCall) {
      const url = await jobs.getTraceUrl(database, access, job_id)
      return redirect(new URL(url).href)
    },
  })
