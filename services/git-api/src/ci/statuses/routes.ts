import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { coverageMax, postedStates, statusLinksMax } from '@switchyard/domain/commit-status'
import {
  bigRowId,
  created,
  decimal,
  endpoint,
  filledText,
  flag,
  list,
  pageParameters,
  pageReply,
  proseCharsMax,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import { commitStatusShape, presentCommitStatus } from './present.js'
import type { StatusDependencies } from './statuses.js'
import * as statuses from './statuses.js'

export function statusRoutes(deps: StatusDependencies): Route[] {
  const { readStatuses, writeStatuses } = deps.guards
  return [
    route('GET', '/projects/:id/repository/commits/:sha/statuses', readStatuses, listStatuses(deps.database)),
    route('POST', '/projects/:id/statuses/:sha', writeStatuses, createStatus(deps)),
  ]
}

const listStatuses = (database: Database) =>
  endpoint({
    summary: 'List the statuses of a commit',
    replies: { 200: z.array(commitStatusShape) },
    input: z.object({
      ...pageParameters,
      sha: text(),
      ref: optionalText(text()),
      stage: optionalText(text()),
      name: optionalText(text()),
      all: optional(flag()).default(false),
      pipeline_id: optional(bigRowId()),
      order_by: z.enum(['id', 'pipeline_id']).default('id'),
      sort: z.enum(['asc', 'desc']).default('asc'),
    }),
    async handle({ sha, all = false, order_by, sort, pipeline_id, ...given }, access: ProjectCall, call) {
      const { ref, stage, name, ...page } = given
      const query = {
        revision: sha,
        ref,
        stage,
        name,
        pipelineId: pipeline_id,
        all,
        newestFirst: sort === 'desc',
        byPipeline: order_by === 'pipeline_id',
      }
      const found = await statuses.listStatuses(database, access, query, rowsOf(page))
      const items = found.statuses.map((status) => presentCommitStatus(status, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

/** Links of one kind, in the order in which they are shown. */
const links = () => optional(list(z.object({ name: filledText(), url: text() }), statusLinksMax))

const createStatus = (deps: StatusDependencies) =>
  endpoint({
    summary: 'Set the status of a build or check of a commit',
    replies: { 201: commitStatusShape },
    refusals: [409, 422],
    input: z.object({
      sha: text(),
      state: z.enum(postedStates),
      ref: optionalText(text()),
      name: optionalText(text()),
      context: optionalText(text()),
      target_url: optionalText(text()),
      description: optionalText(text(proseCharsMax)),
      coverage: optional(decimal(-coverageMax, coverageMax)).meta({ description: 'In per cent' }),
      pipeline_id: optional(bigRowId()),
      stage: optionalText(text()).meta({ description: 'The stage of the pipeline; `external` without one' }),
      report: links().meta({ description: 'URLs of the reports of the build' }),
      artifacts: links().meta({ description: 'URLs of the artifacts of the build' }),
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const { sha: revision, context, target_url: targetUrl, pipeline_id: pipelineId, ...fields } = given
      const name = given.name ?? context ?? 'default'
      const command = { ...fields, revision, name, targetUrl, pipelineId }
      return created(
        presentCommitStatus(await statuses.recordStatus(deps, access, command, call), call.baseUrl),
      )
    },
  })
