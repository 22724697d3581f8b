import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { presentProtectedBranch, protectedBranchShape } from '../presenters/protected-branch.js'
import * as branches from '../use-cases/protected-branches.js'
import { accessLevel } from '../wire/parameters.js'

/** `:name` is the name or the pattern as it was protected. */
export function protectedBranchRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/protected_branches'
  return [
    route('POST', path, maintain, createProtectedBranch(deps)),
    route('GET', path, maintain, listProtectedBranches(deps)),
    route('GET', `${path}/:name`, maintain, getProtectedBranch(deps)),
    route('DELETE', `${path}/:name`, maintain, deleteProtectedBranch(deps)),
  ]
}

const createProtectedBranch = (deps: Dependencies) =>
  endpoint({
    summary: 'Protect a branch, or branches by a pattern',
    replies: { 201: protectedBranchShape },
    refusals: [409],
    input: z.object({
      name: filledText(),
      push_access_level: accessLevel(0, 30, 40).default(40),
      allow_force_push: flag().default(false),
    }),
    async handle(input, access: ProjectCall<Caller>, call) {
      const { name, push_access_level: pushAccessLevel, allow_force_push: allowForcePush } = input
      const given = { name, pushAccessLevel, allowForcePush }
      const branch = await branches.protectBranch(deps, access, given, auditAuthor(access.caller, call))
      return created(presentProtectedBranch(branch))
    },
  })

const listProtectedBranches = (deps: Dependencies) =>
  endpoint({
    summary: 'Protected branches',
    replies: { 200: z.array(protectedBranchShape) },
    input: z.object({ ...pageParameters, search: text().default('') }),
    async handle({ search, ...page }, access: ProjectCall, call) {
      const found = await branches.listProtectedBranches(deps, access, search, rowsOf(page))
      return pageReply(found.branches.map(presentProtectedBranch), page, found.total, call)
    },
  })

const getProtectedBranch = (deps: Dependencies) =>
  endpoint({
    summary: 'One protected branch or pattern',
    replies: { 200: protectedBranchShape },
    input: z.object({ name: text() }),
    handle: async ({ name }, access: ProjectCall) =>
      ok(presentProtectedBranch(await branches.getProtectedBranch(deps, access, name))),
  })

const deleteProtectedBranch = (deps: Dependencies) =>
  endpoint({
    summary: 'Lift the protection of a branch',
    replies: { 204: null },
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall<Caller>, call) {
      await branches.unprotectBranch(deps, access, name, auditAuthor(access.caller, call))
      return noContent()
    },
  })
