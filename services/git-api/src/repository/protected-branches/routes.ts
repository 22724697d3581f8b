import type { Database, ProtectedBranch } from '@switchyard/db'
import { accessLevels, administratorLevel, type Caller, levelsOfBranch } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  route,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { accessLevel, optional } from '../../shapes/parameters.js'
import {
  allowedLevels,
  changedLevels,
  newLevels,
  presentProtectionLevels,
  protectionLevelShape,
} from '../../shapes/protection-levels.js'
import * as protectedBranches from './protected-branches.js'
import type { BranchRules } from './store.js'

const protectedBranchShape = z
  .object({
    id: z.int(),
    name: z.string(),
    push_access_levels: z.array(protectionLevelShape),
    merge_access_levels: z.array(protectionLevelShape),
    unprotect_access_levels: z.array(protectionLevelShape),
    allow_force_push: z.boolean(),
    code_owner_approval_required: z.boolean(),
  })
  .meta({
    id: 'ProtectedBranch',
    description: 'A protected branch or pattern of branches, and who may push to it',
  })

/** Returns a protection in GitLab's shape. */
function presentProtectedBranch(branch: ProtectedBranch): z.output<typeof protectedBranchShape> {
  const { id, name, allowForcePush, codeOwnerApprovalRequired } = branch
  const { push, merge, unprotect } = levelsOfBranch(branch)
  return {
    id,
    name,
    push_access_levels: presentProtectionLevels(id, push),
    merge_access_levels: presentProtectionLevels(id, merge),
    unprotect_access_levels: presentProtectionLevels(id, unprotect),
    allow_force_push: allowForcePush,
    code_owner_approval_required: codeOwnerApprovalRequired,
  }
}

/** Endpoints for protected branches. `:name` is the name or the pattern as it was protected. */
export function protectedBranchRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { maintain } = guards
  const path = '/projects/:id/protected_branches'
  return [
    route('POST', path, maintain, createProtectedBranch(database)),
    route('GET', path, maintain, listProtectedBranches(database)),
    route('GET', `${path}/:name`, maintain, getProtectedBranch(database)),
    route('PATCH', `${path}/:name`, maintain, updateProtectedBranch(database)),
    route('DELETE', `${path}/:name`, maintain, deleteProtectedBranch(database)),
  ]
}

const hasNoEffect = { description: 'Kept and shown. It has no effect, as there are no merge requests' }

const unprotectLevels = [30, 40, administratorLevel]

/** Parameters of GitLab's clients, as single levels or as lists. */
const ruleParameters = {
  push_access_level: optional(accessLevel(0, 30, 40)),
  merge_access_level: optional(accessLevel(0, 30, 40)).meta(hasNoEffect),
  unprotect_access_level: optional(accessLevel(...unprotectLevels)).meta({
    description: 'Maintainers may lift and change the protection; with 60, only administrators',
  }),
  allowed_to_push: allowedLevels(0, 30, 40),
  allowed_to_merge: allowedLevels(0, 30, 40).meta(hasNoEffect),
  allowed_to_unprotect: allowedLevels(...unprotectLevels),
  allow_force_push: optional(flag()),
  code_owner_approval_required: optional(flag()).meta(hasNoEffect),
}

const createProtectedBranch = (database: Database) =>
  endpoint({
    summary: 'Protect a branch, or all branches that match a pattern',
    replies: { 201: protectedBranchShape },
    refusals: [409],
    input: z.object({ name: filledText(), ...ruleParameters }),
    async handle({ name, ...input }, access: ProjectCall<Caller>, call) {
      const { maintainer } = accessLevels
      const levels = {
        push: newLevels({ allowed_to_push: input.allowed_to_push }, input.push_access_level, maintainer),
        merge: newLevels({ allowed_to_merge: input.allowed_to_merge }, input.merge_access_level, maintainer),
        unprotect: newLevels(
          { allowed_to_unprotect: input.allowed_to_unprotect },
          input.unprotect_access_level,
        ),
      }
      const flags = {
        allowForcePush: input.allow_force_push ?? false,
        codeOwnerApprovalRequired: input.code_owner_approval_required ?? false,
      }
      const author = auditAuthor(access.caller, call)
      const branch = await protectedBranches.protectBranch(
        database,
        access,
        { name, levels, ...flags },
        author,
      )
      return created(presentProtectedBranch(branch))
    },
  })

/** Changes a protection. Missing parameters change nothing; a single level replaces all levels. */
const updateProtectedBranch = (database: Database) =>
  endpoint({
    summary: 'Change the protection of a branch',
    replies: { 200: protectedBranchShape },
    refusals: [412],
    input: z.object({ name: text(), ...ruleParameters }),
    async handle({ name, ...input }, access: ProjectCall<Caller>, call) {
      const change = {
        name,
        change: (branch: ProtectedBranch) => changedRules(branch, input),
        precondition: preconditionOf(call),
      }
      const author = auditAuthor(access.caller, call)
      const branch = await protectedBranches.changeProtectedBranch(database, access, change, author)
      return versioned(presentProtectedBranch(branch), branch)
    },
  })

function changedRules(
  branch: ProtectedBranch,
  input: z.output<z.ZodObject<typeof ruleParameters>>,
): BranchRules {
  const { push, merge, unprotect } = levelsOfBranch(branch)
  const start = (levels: number[], level: number | undefined) => ({
    protectionId: branch.id,
    current: level === undefined ? levels : [level],
  })
  return {
    levels: {
      push: changedLevels(start(push, input.push_access_level), { allowed_to_push: input.allowed_to_push }),
      merge: changedLevels(start(merge, input.merge_access_level), {
        allowed_to_merge: input.allowed_to_merge,
      }),
      unprotect: changedLevels(start(unprotect, input.unprotect_access_level), {
        allowed_to_unprotect: input.allowed_to_unprotect,
      }),
    },
    allowForcePush: input.allow_force_push ?? branch.allowForcePush,
    codeOwnerApprovalRequired: input.code_owner_approval_required ?? branch.codeOwnerApprovalRequired,
  }
}

const listProtectedBranches = (database: Database) =>
  endpoint({
    summary: 'List protected branches',
    replies: { 200: z.array(protectedBranchShape) },
    input: z.object({ ...pageParameters, search: text().default('') }),
    async handle({ search, ...page }, access: ProjectCall, call) {
      const found = await protectedBranches.listProtectedBranches(database, access, search, rowsOf(page))
      return pageReply(found.branches.map(presentProtectedBranch), page, found.total, call)
    },
  })

const getProtectedBranch = (database: Database) =>
  endpoint({
    summary: 'Get a protected branch or pattern',
    replies: { 200: protectedBranchShape },
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall) {
      const branch = await protectedBranches.getProtectedBranch(database, access, name)
      return versioned(presentProtectedBranch(branch), branch)
    },
  })

const deleteProtectedBranch = (database: Database) =>
  endpoint({
    summary: 'Unprotect a branch',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall<Caller>, call) {
      const named = { name, precondition: preconditionOf(call) }
      await protectedBranches.unprotectBranch(database, access, named, auditAuthor(access.caller, call))
      return noContent()
    },
  })
