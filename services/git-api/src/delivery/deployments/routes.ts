import type { Database } from '@switchyard/db'
import { type Measure, measures } from '@switchyard/delivery-impact'
import { invalid } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { deploymentStatuses, environmentTiers } from '@switchyard/domain/deployment'
import {
  type Call,
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  oneOf,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
  time,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitShape, presentCommit } from '../../shapes/commit.js'
import {
  deploymentDetailShape,
  deploymentShape,
  presentDeployment,
  presentDeploymentDetail,
} from '../../shapes/deployment.js'
import { optional, optionalText, serviceNames } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import * as protectedEnvironments from '../protected-environments/protected-environments.js'
import type { DeploymentDependencies } from './deployments.js'
import * as deployments from './deployments.js'
import type { DeploymentOrder, DeploymentView, EndedDeployment } from './store.js'

export function deploymentRoutes(deps: DeploymentDependencies): Route[] {
  const { readDeployments, deploy, maintain } = deps.guards
  const path = '/projects/:id/deployments'
  const one = `${path}/:deployment_id`
  return [
    route('GET', '/deployments', signedIn, listEndedDeployments(deps.database), { refusesUnknown: true }),
    route('GET', path, readDeployments, listDeployments(deps.database)),
    route('POST', path, deploy, createDeployment(deps)),
    route('GET', one, readDeployments, getDeployment(deps.database)),
    route('PUT', one, deploy, updateDeployment(deps)),
    route('DELETE', one, maintain, deleteDeployment(deps.database)),
    route('GET', `${one}/commits`, readDeployments, listCommits(deps.database), { refusesUnknown: true }),
    route('GET', `${one}/merge_requests`, readDeployments, listMergeRequests(deps.database)),
  ]
}

const deploymentId = { deployment_id: rowId() }

const orderColumns = {
  id: 'id',
  iid: 'iid',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  finished_at: 'finishedAt',
} as const satisfies Record<string, DeploymentOrder['column']>

const listInput = z.object({
  ...pageParameters,
  environment: optionalText(text()).meta({ description: 'Name of the environment' }),
  // GitLab's clients may send `skipped`, a status that no deployment here has.
  status: optional(z.enum([...deploymentStatuses, 'skipped'])),
  order_by: z.enum(Object.keys(orderColumns) as [keyof typeof orderColumns]).default('id'),
  sort: z.enum(['asc', 'desc']).default('asc'),
  updated_after: optional(time()),
  updated_before: optional(time()),
  finished_after: optional(time()),
  finished_before: optional(time()),
})

const endedDeploymentShape = z
  .object({
    ...deploymentShape.shape,
    tier: oneOf(environmentTiers).meta({ description: 'Tier of the environment' }),
    project: projectReferenceShape,
    findings: z
      .array(z.object({ service_name: z.string(), tenant: z.string(), measure: oneOf(measures) }))
      .meta({ description: 'The first 20 findings about the deployment' }),
    dismissed: z
      .boolean()
      .meta({ description: 'A person dismissed the findings: the deployment is not their cause' }),
  })
  .meta({ id: 'EndedDeployment', description: 'A finished deployment and its findings' })

const presentEndedDeployment = (
  deployment: EndedDeployment,
  baseUrl: string,
): z.output<typeof endedDeploymentShape> => ({
  ...presentDeployment(deployment, baseUrl),
  tier: deployment.environment.tier,
  project: presentProjectReference(deployment.project),
  findings: deployment.findings.map(({ serviceName, tenant, measure }) => ({
    service_name: serviceName,
    tenant,
    measure: measure as Measure,
  })),
  dismissed: deployment.isDismissed,
})

const listEndedDeployments = (database: Database) =>
  endpoint({
    summary: 'List the finished deployments of all projects that the caller may read, newest first',
    replies: { 200: z.array(endedDeploymentShape) },
    input: z.object({
      ...pageParameters,
      finished_after: optional(time()).meta({ description: 'Default: a day ago' }),
      finished_before: optional(time()),
    }),
    async handle({ finished_after, finished_before, ...page }, caller: Caller, call) {
      const times = { finishedAfter: finished_after, finishedBefore: finished_before }
      const found = await deployments.listEndedDeployments(database, caller, times, rowsOf(page))
      const items = found.deployments.map((each) => presentEndedDeployment(each, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const listDeployments = (database: Database) =>
  endpoint({
    summary: 'List the deployments of a project',
    replies: { 200: z.array(deploymentShape) },
    input: listInput,
    async handle(given, access: ProjectCall, call) {
      refuseUnpairedTimes(given)
      const filter = {
        environment: given.environment,
        status: given.status,
        updatedAfter: given.updated_after,
        updatedBefore: given.updated_before,
        finishedAfter: given.finished_after,
        finishedBefore: given.finished_before,
      }
      const order = { column: orderColumns[given.order_by], direction: given.sort }
      const found = await deployments.listDeployments(database, access, filter, order, rowsOf(given))
      const items = found.deployments.map((deployment) => presentDeployment(deployment, call.baseUrl))
      return pageReply(items, given, found.total, call)
    },
  })

/** Refuses a filter by a time without the order by that time, as GitLab does. */
function refuseUnpairedTimes(given: z.output<typeof listInput>): void {
  const byUpdate = given.updated_after !== undefined || given.updated_before !== undefined
  const byEnd = given.finished_after !== undefined || given.finished_before !== undefined
  if (byUpdate && given.order_by !== 'updated_at') {
    throw invalid('400 Bad request - `updated_at` filter and `updated_at` sorting must be paired')
  }
  if (byEnd && given.order_by !== 'finished_at') {
    throw invalid('400 Bad request - `finished_at` filter and `finished_at` sorting must be paired')
  }
  if (byEnd && given.status !== 'success') {
    throw invalid('400 Bad request - `finished_at` filter must be combined with `success` status filter.')
  }
}

const presentDetail = async (database: Database, deployment: DeploymentView, { baseUrl }: Call) =>
  presentDeploymentDetail(
    deployment,
    await protectedEnvironments.describeApprovals(database, deployment),
    baseUrl,
  )

const createDeployment = (deps: DeploymentDependencies) =>
  endpoint({
    summary: 'Create a deployment, and its environment if it does not exist',
    replies: { 201: deploymentDetailShape },
    input: z.object({
      environment: filledText().meta({ description: 'Name of the environment' }),
      sha: filledText(),
      ref: filledText(),
      tag: flag().meta({ description: 'Whether ref is a tag' }),
      status: z.enum(deploymentStatuses),
      saga_id: optionalText(text()).meta({ description: 'The saga that performs the deployment' }),
      saga_tenant: optionalText(text()).meta({ description: 'The tenant of the saga; default: `default`' }),
      services: optional(serviceNames()).meta({
        description:
          'The services that it ships, as sagas and queues name them; default: those of the project',
      }),
      enforce: flag().default(false).meta({
        description:
          'Refuse the deployment within a freeze period, or while a rule freezes the environment. A deployment that would begin in a protected environment is refused then without this field, too',
      }),
    }),
    async handle({ saga_id: sagaId, saga_tenant: sagaTenant, ...given }, access: ProjectCall<Caller>, call) {
      const command = { ...given, sagaId, sagaTenant }
      const deployment = await deployments.addDeployment(deps, access, command, call)
      return created(await presentDetail(deps.database, deployment, call))
    },
  })

const getDeployment = (database: Database) =>
  endpoint({
    summary: 'Get a deployment',
    replies: { 200: deploymentDetailShape },
    input: z.object(deploymentId),
    async handle({ deployment_id }, access: ProjectCall, call) {
      const deployment = await deployments.getDeployment(database, access, deployment_id)
      return versioned(await presentDetail(database, deployment, call), deployment)
    },
  })

const updateDeployment = (deps: DeploymentDependencies) =>
  endpoint({
    summary: 'Change the status of a deployment',
    replies: { 200: deploymentDetailShape },
    refusals: [412],
    input: z.object({ ...deploymentId, status: z.enum(deploymentStatuses) }),
    async handle({ deployment_id: id, status }, access: ProjectCall<Caller>, call) {
      const change = { id, status, precondition: preconditionOf(call) }
      const deployment = await deployments.changeDeployment(deps, access, change, call)
      return versioned(await presentDetail(deps.database, deployment, call), deployment)
    },
  })

const deleteDeployment = (database: Database) =>
  endpoint({
    summary: 'Delete a deployment that is neither running nor the current one of its environment',
    replies: { 204: null },
    refusals: [412],
    input: z.object(deploymentId),
    async handle({ deployment_id: id }, access: ProjectCall, call) {
      await deployments.deleteDeployment(database, access.project.id, id, preconditionOf(call))
      return noContent()
    },
  })

const listCommits = (database: Database) =>
  endpoint({
    summary: 'List the commits that are new in a deployment, newest first',
    replies: { 200: z.array(commitShape) },
    refusals: [413],
    input: z.object({ ...pageParameters, ...deploymentId }),
    async handle({ deployment_id, ...page }, access: ProjectCall, call) {
      const found = await deployments.listDeployedCommits(database, access, deployment_id, rowsOf(page))
      const items = found.commits.map((commit) => presentCommit(commit, access.project, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

/** Answers with an empty list for an existing deployment, because there are no merge requests. */
const listMergeRequests = (database: Database) =>
  endpoint({
    summary: 'List the merge requests of a deployment: always empty',
    replies: { 200: z.array(z.unknown()) },
    input: z.object({ ...pageParameters, ...deploymentId }),
    async handle({ deployment_id, ...page }, access: ProjectCall, call) {
      await deployments.getDeployment(database, access, deployment_id)
      return pageReply([], page, 0, call)
    },
  })
