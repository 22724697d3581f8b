import type { Database } from '@switchyard/db'
import { accessLevels, administratorLevel, type Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  integer,
  list,
  noContent,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  proseCharsMax,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { approvalShape, presentApproval } from '../../shapes/deployment.js'
import { accessLevel, optional, optionalText } from '../../shapes/parameters.js'
import type { DeploymentDependencies } from '../deployments/deployments.js'
import * as deploymentApprovals from './deployment-approvals.js'
import { presentProtectedEnvironment, protectedEnvironmentShape } from './present.js'
import * as protectedEnvironments from './protected-environments.js'

/** Endpoints for protected environments. `:name` is the whole name of the environment. */
export function protectedEnvironmentRoutes(deps: DeploymentDependencies): Route[] {
  const { database, guards } = deps
  const { maintain, readDeployments } = guards
  const path = '/projects/:id/protected_environments'
  return [
    route('GET', path, maintain, listProtectedEnvironments(database)),
    route('POST', path, maintain, createProtectedEnvironment(database)),
    route('GET', `${path}/:name`, maintain, getProtectedEnvironment(database)),
    route('PUT', `${path}/:name`, maintain, updateProtectedEnvironment(database)),
    route('DELETE', `${path}/:name`, maintain, deleteProtectedEnvironment(database)),
    route('POST', '/projects/:id/deployments/:deployment_id/approval', readDeployments, approve(deps)),
  ]
}

const { developer, maintainer } = accessLevels
const approvalsMax = 5
const count = (min: number) =>
  integer().refine((value) => value >= min && value <= approvalsMax, {
    error: `is not between ${min} and ${approvalsMax}`,
  })

const partyFields = {
  access_level: optional(accessLevel(developer, maintainer, administratorLevel)),
  user_id: optional(rowId()),
  group_id: unsupported('is not supported: there are no groups'),
  group_inheritance_type: unsupported('is not supported: there are no groups', '0'),
  id: optional(rowId()).meta({ description: 'Id of an entry that is changed or removed' }),
  _destroy: flag().default(false).meta({ description: 'Removes the entry with this `id`' }),
}

const rulesMax = 20

const ruleParameters = {
  deploy_access_levels: optional(list(z.object(partyFields), rulesMax)),
  required_approval_count: optional(count(0)),
  approval_rules: optional(
    list(z.object({ ...partyFields, required_approvals: optional(count(1)) }), rulesMax),
  ),
}

type PartyInput = z.output<z.ZodObject<typeof partyFields>>

/** @throws DomainError invalid-parameters for an entry that names neither a role nor a user, or both */
const partiesOf = <Input extends PartyInput>(name: string, given: Input[] | undefined) =>
  given?.map((entry, index) => {
    const { access_level = null, user_id = null, id, _destroy: takesAway } = entry
    if (!takesAway && (access_level === null) === (user_id === null)) {
      throw parameterProblem(`${name}[${index}]`, 'names neither access_level nor user_id, or both')
    }
    if (takesAway && id === undefined) throw parameterProblem(`${name}[${index}][id]`, 'is missing')
    return { entry, party: { id, takesAway, accessLevel: access_level, userId: user_id } }
  })

const changesOf = (given: z.output<z.ZodObject<typeof ruleParameters>>) => ({
  deployers: partiesOf('deploy_access_levels', given.deploy_access_levels)?.map(({ party }) => party),
  requiredApprovalCount: given.required_approval_count,
  approvalRules: partiesOf('approval_rules', given.approval_rules)?.map(({ entry, party }) => ({
    ...party,
    requiredApprovals: entry.required_approvals,
  })),
})

const listProtectedEnvironments = (database: Database) =>
  endpoint({
    summary: 'List the protected environments, by name',
    replies: { 200: z.array(protectedEnvironmentShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await protectedEnvironments.listProtectedEnvironments(database, access, rowsOf(page))
      return pageReply(found.protections.map(presentProtectedEnvironment), page, found.total, call)
    },
  })

const createProtectedEnvironment = (database: Database) =>
  endpoint({
    summary: 'Protect an environment',
    replies: { 201: protectedEnvironmentShape },
    refusals: [409],
    input: z.object({
      name: filledText(),
      ...ruleParameters,
      deploy_access_levels: list(z.object(partyFields), rulesMax).refine((levels) => levels.length > 0, {
        error: 'is empty',
      }),
    }),
    async handle({ name, ...given }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const asked = { name, ...changesOf(given) }
      const protection = await protectedEnvironments.protectEnvironment(database, access, asked, author)
      return created(presentProtectedEnvironment(protection))
    },
  })

const getProtectedEnvironment = (database: Database) =>
  endpoint({
    summary: 'Get a protected environment',
    replies: { 200: protectedEnvironmentShape },
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall) {
      const protection = await protectedEnvironments.getProtectedEnvironment(database, access, name)
      return versioned(presentProtectedEnvironment(protection), protection)
    },
  })

/** Changes a protection. Missing fields stay. */
const updateProtectedEnvironment = (database: Database) =>
  endpoint({
    summary: 'Change who may deploy to a protected environment, and who approves',
    replies: { 200: protectedEnvironmentShape },
    refusals: [412],
    input: z.object({ name: text(), ...ruleParameters }),
    async handle({ name, ...given }, access: ProjectCall<Caller>, call) {
      const asked = { name, precondition: preconditionOf(call), ...changesOf(given) }
      const author = auditAuthor(access.caller, call)
      const protection = await protectedEnvironments.changeProtectedEnvironment(
        database,
        access,
        asked,
        author,
      )
      return versioned(presentProtectedEnvironment(protection), protection)
    },
  })

const deleteProtectedEnvironment = (database: Database) =>
  endpoint({
    summary: 'Unprotect an environment',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall<Caller>, call) {
      const named = { name, precondition: preconditionOf(call) }
      await protectedEnvironments.unprotectEnvironment(
        database,
        access,
        named,
        auditAuthor(access.caller, call),
      )
      return noContent()
    },
  })

const approve = (deps: DeploymentDependencies) =>
  endpoint({
    summary: 'Approve or reject a deployment that waits for approval',
    replies: { 201: approvalShape },
    input: z.object({
      deployment_id: rowId(),
      status: z.enum(['approved', 'rejected']),
      comment: optionalText(text(proseCharsMax)),
      represented_as: unsupported('is not supported: an approval counts for every rule that its user fits'),
    }),
    async handle({ deployment_id: deploymentId, status, comment = null }, access: ProjectCall<Caller>, call) {
      const command = { deploymentId, status, comment }
      return created(
        presentApproval(
          await deploymentApprovals.approveDeployment(deps, access, command, call),
          call.baseUrl,
        ),
      )
    },
  })
