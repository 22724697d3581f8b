import { listProjects as findProjects, type ProjectOrder } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  type Call,
  endpoint,
  flag,
  pageParameters,
  pageReply,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { projectShape } from '../../presenters/project.js'
import { describeProjects } from '../../use-cases/describe-project.js'
import { visibilities } from './visibilities.js'

const columns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'createdAt',
  updated_at: 'lastActivityAt',
  last_activity_at: 'lastActivityAt',
} as const satisfies Record<string, ProjectOrder['column']>

const columnNames = Object.keys(columns) as [keyof typeof columns]

const input = z.object({
  ...pageParameters,
  membership: flag().default(false),
  owned: flag().default(false),
  search: text().optional(),
  visibility: z.enum(visibilities).optional(),
  order_by: z.enum(columnNames).default('created_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
})

/** `GET /projects`: those the caller may see. */
export const listProjects = (deps: Dependencies) =>
  endpoint({
    summary: 'Projects that the caller may see',
    replies: { 200: z.array(projectShape) },
    input,
    async handle({ page, per_page, order_by, sort, ...filter }, caller: Caller, call: Call) {
      const { projects, total } = await findProjects(
        deps.database,
        { ...filter, viewer: caller.user, only: caller.token.projectId ?? undefined },
        { column: columns[order_by], direction: sort },
        rowsOf({ page, per_page }),
      )
      const items = await describeProjects(deps, projects, caller, call)
      return pageReply(items, { page, per_page }, total, call)
    },
  })
