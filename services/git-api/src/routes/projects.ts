import type { ProjectOrder } from '@switchyard/db'
import { invalidParameters } from '@switchyard/domain'
import { type Caller, visibilities } from '@switchyard/domain/access'
import {
  accepted,
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { presentProject, projectShape } from '../presenters/project.js'
import * as creation from '../use-cases/create-project.js'
import * as projects from '../use-cases/projects.js'
import { optional } from '../wire/parameters.js'

export function projectRoutes(deps: Dependencies): Route[] {
  const { readProject, maintain, own } = deps.guards
  return [
    route('POST', '/projects', signedIn, createProject(deps)),
    route('GET', '/projects', signedIn, listProjects(deps)),
    route('GET', '/projects/:id', readProject, getProject(deps)),
    route('PUT', '/projects/:id', maintain, updateProject(deps)),
    route('DELETE', '/projects/:id', own, deleteProject(deps)),
  ]
}

/** Projects stand below the caller's name; administrators may name another user. */
const createProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a project',
    replies: { 201: projectShape },
    refusals: [409],
    input: z.object({
      name: optional(filledText()),
      path: optional(filledText()),
      description: optional(text()),
      visibility: z.enum(visibilities).default('private'),
      default_branch: filledText().default('main'),
      initialize_with_readme: flag().default(false),
      namespace_id: optional(rowId()),
    }),
    async handle({ name, path, description = null, visibility, ...given }, caller: Caller, call) {
      if (name === undefined && path === undefined) throw missing('name, path')
      const command = {
        ownerId: given.namespace_id,
        name,
        path,
        description,
        visibility,
        defaultBranch: given.default_branch,
        withReadme: given.initialize_with_readme,
      }
      return created(presentProject(await creation.createProject(deps, caller, command, call), call.baseUrl))
    },
  })

const missing = (names: string) =>
  invalidParameters([`${names} are missing, at least one parameter must be provided`])

const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'createdAt',
  updated_at: 'lastActivityAt',
  last_activity_at: 'lastActivityAt',
} as const satisfies Record<string, ProjectOrder['column']>

const listProjects = (deps: Dependencies) =>
  endpoint({
    summary: 'Projects that the caller may see',
    replies: { 200: z.array(projectShape) },
    input: z.object({
      ...pageParameters,
      membership: flag().default(false),
      owned: flag().default(false),
      search: text().optional(),
      visibility: z.enum(visibilities).optional(),
      order_by: z.enum(Object.keys(orderColumns) as [keyof typeof orderColumns]).default('created_at'),
      sort: z.enum(['asc', 'desc']).default('desc'),
    }),
    async handle({ page, per_page, order_by, sort, ...filter }, caller: Caller, call) {
      const order = { column: orderColumns[order_by], direction: sort }
      const rows = rowsOf({ page, per_page })
      const found = await projects.listProjects(deps, caller, filter, order, rows, call)
      const items = found.projects.map((project) => presentProject(project, call.baseUrl))
      return pageReply(items, { page, per_page }, found.total, call)
    },
  })

const getProject = (deps: Dependencies) =>
  endpoint({
    summary: 'One project',
    replies: { 200: projectShape },
    input: z.object({ statistics: flag().default(false) }),
    handle: async ({ statistics }, access: ProjectCall, call) => {
      const asked = { withStatistics: statistics }
      return ok(presentProject(await projects.getProject(deps, access, asked), call.baseUrl))
    },
  })

/** Fields that only GitLab has are ignored. */
const updateProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Change a project',
    replies: { 200: projectShape },
    input: z.object({
      name: optional(filledText()),
      path: optional(filledText()),
      description: text().nullish(),
      visibility: optional(z.enum(visibilities)),
      default_branch: optional(filledText()),
    }),
    async handle({ default_branch: defaultBranch, ...given }, access: ProjectCall<Caller>, call) {
      const asked = { ...given, defaultBranch }
      if (Object.values(asked).every((value) => value === undefined)) {
        throw missing('name, path, description, visibility, default_branch')
      }
      const author = auditAuthor(access.caller, call)
      return ok(presentProject(await projects.changeProject(deps, access, asked, author), call.baseUrl))
    },
  })

/** The project is gone when the answer arrives. */
const deleteProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a project with everything in it',
    replies: { 202: z.object({ message: z.string() }) },
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      await projects.removeProject(deps, access, auditAuthor(access.caller, call))
      return accepted({ message: '202 Accepted' })
    },
  })
