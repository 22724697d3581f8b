import type { Database, Project } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  accepted,
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  keysetParameters,
  keysetReply,
  link,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  text,
  unmodifiedSinceMs,
  windowOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { commitShape, presentCommit } from '../../shapes/commit.js'
import { nameRegex, nameSearch, optional } from '../../shapes/parameters.js'
import type { ReferenceDependencies } from '../references/references.js'
import type { BranchView } from './branches.js'
import * as branches from './branches.js'

const branchShape = z
  .object({
    name: z.string(),
    commit: commitShape,
    merged: z
      .boolean()
      .meta({ description: 'Whether the default branch contains the branch and has more commits' }),
    protected: z.boolean(),
    developers_can_push: z.boolean().meta({ description: 'Whether a protection lets developers push' }),
    developers_can_merge: z
      .boolean()
      .meta({ description: 'Whether a protection has `merge_access_level` 30' }),
    can_push: z.boolean().meta({ description: 'Whether the caller may push' }),
    default: z.boolean(),
    web_url: link(),
  })
  .meta({ id: 'Branch', description: 'A branch and its newest commit' })

/** Returns a branch in GitLab's shape. */
const presentBranch = (
  branch: BranchView,
  project: Project,
  baseUrl: string,
): z.output<typeof branchShape> => ({
  name: branch.name,
  commit: presentCommit(branch.commit, project, baseUrl),
  merged: branch.isMerged,
  protected: branch.isProtected,
  developers_can_push: branch.developersCanPush,
  developers_can_merge: branch.developersCanMerge,
  can_push: branch.callerCanPush,
  default: branch.isDefault,
  web_url: `${baseUrl}/${project.pathWithNamespace}/-/tree/${encodeURIComponent(branch.name)}`,
})

export function branchRoutes(deps: ProjectResourceDependencies & ReferenceDependencies): Route[] {
  const { readCode, pushCode, maintain } = deps.guards
  const path = '/projects/:id/repository/branches'
  return [
    route('GET', path, readCode, listBranches(deps.database)),
    route('POST', path, pushCode, createBranch(deps)),
    route('GET', `${path}/:branch`, readCode, getBranch(deps.database)),
    route('DELETE', `${path}/:branch`, pushCode, deleteBranch(deps)),
    route('PUT', `${path}/:branch/protect`, maintain, protectBranch(deps.database)),
    route('PUT', `${path}/:branch/unprotect`, maintain, unprotectBranch(deps.database)),
    route('DELETE', '/projects/:id/repository/merged_branches', pushCode, deleteMergedBranches(deps)),
  ]
}

const sorts = ['name_asc', 'name_desc', 'updated_asc', 'updated_desc'] as const

const input = z.object({
  ...pageParameters,
  ...keysetParameters,
  search: nameSearch(),
  regex: nameRegex(),
  sort: z.enum(sorts).default('name_asc'),
})

const listBranches = (database: Database) =>
  endpoint({
    summary: 'List branches',
    replies: { 200: z.array(branchShape) },
    refusals: [413],
    input,
    async handle({ search, regex, sort, pagination, page_token, ...page }, access: ProjectCall, call) {
      const [order, direction] = sort.split('_') as ['name' | 'updated', string]
      const query = {
        search,
        regex,
        order,
        descending: direction === 'desc',
        window: windowOf(pagination, page_token, page),
      }
      const found = await branches.listBranches(database, access, query)
      const items = found.branches.map((branch) => presentBranch(branch, access.project, call.baseUrl))
      return pagination === 'keyset'
        ? keysetReply(items, found.next, call)
        : pageReply(items, page, found.total, call)
    },
  })

const createBranch = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Create a branch',
    replies: { 201: branchShape },
    input: z.object({ branch: filledText(), ref: filledText() }),
    async handle({ branch, ref }, access: ProjectCall<Caller>, call) {
      const made = await branches.createBranch(deps, access, { name: branch, start: ref }, call)
      return created(presentBranch(made, access.project, call.baseUrl))
    },
  })

const getBranch = (database: Database) =>
  endpoint({
    summary: 'Get a branch',
    replies: { 200: branchShape },
    refusals: [400],
    input: z.object({ branch: text() }),
    async handle({ branch }, access: ProjectCall, call) {
      return ok(
        presentBranch(await branches.getBranch(database, access, branch), access.project, call.baseUrl),
      )
    },
  })

const deleteBranch = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Delete a branch',
    replies: { 204: null },
    refusals: [400, 409, 412],
    input: z.object({ branch: text() }),
    async handle({ branch }, access: ProjectCall<Caller>, call) {
      await branches.deleteBranch(deps, access, branch, unmodifiedSinceMs(call), call)
      return noContent()
    },
  })

const protectBranch = (database: Database) =>
  endpoint({
    summary: 'Protect an existing branch',
    replies: { 200: branchShape },
    input: z.object({
      branch: text(),
      developers_can_push: optional(flag()),
      developers_can_merge: optional(flag()),
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const { branch, developers_can_push: push, developers_can_merge: merge } = given
      const author = auditAuthor(access.caller, call)
      const changed = await branches.protectBranch(database, access, branch, { push, merge }, author)
      return ok(presentBranch(changed, access.project, call.baseUrl))
    },
  })

const unprotectBranch = (database: Database) =>
  endpoint({
    summary: 'Remove the protection of a single branch',
    replies: { 200: branchShape },
    refusals: [400],
    input: z.object({ branch: text() }),
    async handle({ branch }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const changed = await branches.unprotectBranch(database, access, branch, author)
      return ok(presentBranch(changed, access.project, call.baseUrl))
    },
  })

/** `DELETE /projects/:id/repository/merged_branches` deletes the branches before it answers. */
const deleteMergedBranches = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Delete the unprotected branches that are merged into the default branch',
    replies: { 202: z.object({ message: z.literal('202 Accepted') }) },
    refusals: [413],
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      await branches.deleteMergedBranches(deps, access, call)
      return accepted({ message: '202 Accepted' })
    },
  })
