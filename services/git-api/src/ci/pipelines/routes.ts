import type { Database } from '@switchyard/db'
import { notSupported } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  bigRowId,
  created,
  endpoint,
  flag,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import {
  listedPipelineShape,
  pipelineShape,
  pipelineStates,
  presentListedPipeline,
  presentPipeline,
} from '../../shapes/pipeline.js'
import { jobRoutes } from './job-routes.js'
import type { PipelineQuery } from './pipelines.js'
import * as pipelines from './pipelines.js'

export function pipelineRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { readPipelines, pushCode, own } = guards
  const path = '/projects/:id/pipelines'
  return [
    route('GET', path, readPipelines, listPipelines(database)),
    route('GET', `${path}/latest`, readPipelines, getLatestPipeline(database)),
    route('GET', `${path}/:pipeline_id`, readPipelines, getPipeline(database)),
    ...jobRoutes({ database, guards }),
    route('GET', `${path}/:pipeline_id/bridges`, readPipelines, listNone(database, 'child pipelines')),
    route('GET', `${path}/:pipeline_id/variables`, readPipelines, listNone(database, 'variables of CI')),
    route('POST', '/projects/:id/pipeline', pushCode, refuseToRun('Start a pipeline')),
    route('POST', `${path}/:pipeline_id/retry`, pushCode, requestRetry(database)),
    route('POST', `${path}/:pipeline_id/cancel`, pushCode, refuseToRun('Stop a pipeline')),
    route('DELETE', `${path}/:pipeline_id`, own, refuseToRun('Delete a pipeline')),
  ]
}

/** GitLab's scopes, each with the states that it selects. */
const statesOfScope = new Map([
  ['running', ['running']],
  ['pending', ['pending']],
  ['finished', ['success', 'failed', 'canceled', 'skipped']],
])

const listInput = z.object({
  ...pageParameters,
  scope: z.enum(['running', 'pending', 'finished', 'branches', 'tags']).optional(),
  status: z.enum(pipelineStates).optional(),
  ref: optionalText(text()),
  sha: optionalText(text()),
  source: optionalText(text()),
  username: optionalText(text()),
  name: optionalText(text()),
  yaml_errors: flag().default(false),
  created_after: optional(time()),
  created_before: optional(time()),
  updated_after: optional(time()),
  updated_before: optional(time()),
  order_by: z.enum(['id', 'status', 'ref', 'updated_at', 'user_id']).default('id'),
  sort: z.enum(['desc', 'asc']).default('desc'),
})

const listPipelines = (database: Database) =>
  endpoint({
    summary: 'List pipelines, newest first',
    replies: { 200: z.array(listedPipelineShape) },
    refusals: [413],
    input: listInput,
    async handle(given, access: ProjectCall, call) {
      const { pipelines: found, total } = await pipelines.listPipelines(
        database,
        access,
        queryOf(given),
        rowsOf(given),
      )
      const items = found.map((pipeline) => presentListedPipeline(pipeline, access.project, call.baseUrl))
      return pageReply(items, given, total, call)
    },
  })

function queryOf(given: z.output<typeof listInput>): PipelineQuery {
  return {
    states: statesOf(given),
    ref: given.ref,
    sha: given.sha,
    username: given.username,
    createdAfter: given.created_after,
    createdBefore: given.created_before,
    updatedAfter: given.updated_after,
    updatedBefore: given.updated_before,
    ...(given.scope === 'branches' && { newestOf: 'branch' as const }),
    ...(given.scope === 'tags' && { newestOf: 'tag' as const }),
    order: { by: given.order_by, descending: given.sort === 'desc' },
  }
}

/**
 * Returns the states that match; none for a filter by name, errors of a file or another source, which no
 * pipeline has.
 */
function statesOf({ scope, status, source, name, yaml_errors }: z.output<typeof listInput>) {
  const findsNothing = name !== undefined || yaml_errors || (source !== undefined && source !== 'external')
  if (findsNothing) return []
  const ofScope = statesOfScope.get(scope ?? '')
  if (status === undefined) return ofScope
  return ofScope === undefined || ofScope.includes(status) ? [status] : []
}

const getLatestPipeline = (database: Database) =>
  endpoint({
    summary: 'Get the pipeline of the newest commit of a branch or tag',
    replies: { 200: pipelineShape },
    input: z.object({ ref: optionalText(text()) }),
    async handle({ ref }, access: ProjectCall, call) {
      const { project } = access
      const found = await pipelines.getLatestPipeline(database, access, ref ?? project.defaultBranch)
      return ok(presentPipeline(found, project, call.baseUrl))
    },
  })

const getPipeline = (database: Database) =>
  endpoint({
    summary: 'Get a pipeline',
    replies: { 200: pipelineShape },
    input: z.object({ pipeline_id: bigRowId() }),
    async handle({ pipeline_id }, access: ProjectCall, call) {
      const found = await pipelines.getPipeline(database, access, pipeline_id)
      return ok(presentPipeline(found, access.project, call.baseUrl))
    },
  })

/** Answers with an empty list for parts of a pipeline that Switchyard does not have. */
const listNone = (database: Database, things: string) =>
  endpoint({
    summary: `List ${things}: always empty`,
    replies: { 200: z.array(z.never()) },
    input: z.object({ ...pageParameters, pipeline_id: bigRowId() }),
    async handle({ pipeline_id, ...page }, access: ProjectCall, call) {
      await pipelines.getPipeline(database, access, pipeline_id)
      return pageReply([], page, 0, call)
    },
  })

const requestRetry = (database: Database) =>
  endpoint({
    summary: 'Ask the CI system, through the pipeline webhooks, to run a pipeline again',
    replies: { 201: pipelineShape },
    refusals: [405],
    input: z.object({ pipeline_id: bigRowId() }),
    async handle({ pipeline_id }, access: ProjectCall<Caller>, call) {
      const pipeline = await pipelines.requestRetry(database, access, pipeline_id, call)
      return created(presentPipeline(pipeline, access.project, call.baseUrl))
    },
  })

/** Refuses, with the reason, an operation of GitLab that needs pipelines to run here. */
const refuseToRun = (summary: string) =>
  endpoint({
    summary: `${summary}: not supported, as pipelines follow from commit statuses`,
    replies: {},
    refusals: [405],
    input: z.object({}),
    handle: async () => {
      throw notSupported('Switchyard runs no pipelines: they follow from commit statuses')
    },
  })
