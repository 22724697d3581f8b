import { endpoint, flag, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitStatusShape, presentCommitStatus } from '../../presenters/commit-status.js'
import { listStatuses } from '../../use-cases/list-statuses.js'
import { optional, optionalText } from '../optional.js'

const input = z.object({
  ...pageParameters,
  sha: text(),
  ref: optionalText(text()),
  stage: optionalText(text()),
  name: optionalText(text()),
  all: optional(flag()).default(false),
  // Both mean the order in which statuses were first posted.
  order_by: z.enum(['id', 'pipeline_id']).default('id'),
  sort: z.enum(['asc', 'desc']).default('asc'),
})

export const listStatusesEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Statuses of a commit',
    replies: { 200: z.array(commitStatusShape) },
    input,
    async handle({ sha, ref, stage, name, all = false, sort, ...page }, { project }: ProjectCall, call) {
      const query = { revision: sha, ref, stage, name, all, newestFirst: sort === 'desc' }
      const { statuses, total } = await listStatuses(deps, project, query, rowsOf(page), call.signal)
      const items = statuses.map((status) => presentCommitStatus(status, call.baseUrl))
      return pageReply(items, page, total, call)
    },
  })
