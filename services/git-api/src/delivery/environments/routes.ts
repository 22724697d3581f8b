import type { Database } from '@switchyard/db'
import { invalid, invalidParameters } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { autoStopSettings, environmentStates, environmentTiers } from '@switchyard/domain/deployment'
import {
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  ok,
  pageParameters,
  pageReply,
  preconditionOf,
  proseCharsMax,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  time,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import {
  deploymentShape,
  environmentShape,
  environmentWithProjectShape,
  presentDeployment,
  presentEnvironment,
  presentEnvironmentWithProject,
} from '../../shapes/deployment.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import * as environments from './environments.js'

export function environmentRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { readDeployments, deploy, maintain } = guards
  const path = '/projects/:id/environments'
  const one = `${path}/:environment_id`
  return [
    route('GET', path, readDeployments, listEnvironments(database)),
    route('POST', path, deploy, createEnvironment(database)),
    route('POST', `${path}/stop_stale`, maintain, stopStaleEnvironments(database)),
    route('GET', one, readDeployments, getEnvironment(database)),
    route('PUT', one, deploy, updateEnvironment(database)),
    route('POST', `${one}/stop`, deploy, stopEnvironment(database)),
    route('DELETE', one, deploy, deleteEnvironment(database)),
  ]
}

const environmentId = { environment_id: rowId() }

/** Shorter texts would match nearly everything. */
const searchedCharsMin = 3

const listEnvironments = (database: Database) =>
  endpoint({
    summary: 'List the environments of a project',
    replies: { 200: z.array(environmentWithProjectShape) },
    input: z.object({
      ...pageParameters,
      name: optionalText(text()).meta({ description: 'The whole name' }),
      search: optionalText(text()).meta({ description: 'Part of the name, case-insensitive' }),
      states: optional(z.enum(environmentStates)),
    }),
    async handle({ name, search, states: state, ...page }, access: ProjectCall, call) {
      if (name !== undefined && search !== undefined) {
        throw invalidParameters(['name, search cannot be used together'])
      }
      if (search !== undefined && search.length < searchedCharsMin) {
        throw invalid(`400 Bad request - Search query is less than ${searchedCharsMin} characters`)
      }
      const filter = { name, search, state }
      const found = await environments.listEnvironments(database, access, filter, rowsOf(page))
      const items = found.environments.map((environment) =>
        presentEnvironmentWithProject(environment, found.project, call.baseUrl),
      )
      return pageReply(items, page, found.total, call)
    },
  })

const writtenFields = {
  slug: z
    .unknown()
    .optional()
    .refine((slug) => slug === undefined, { error: 'is automatically generated and cannot be changed' })
    .meta({ deprecated: true, description: 'Refused: the slug is made from the name' }),
  external_url: text().nullish(),
  tier: optional(z.enum(environmentTiers)),
  description: text(proseCharsMax).nullish(),
  auto_stop_setting: optional(z.enum(autoStopSettings)),
  cluster_agent_id: unsupported('is not supported: there are no agents of clusters'),
  kubernetes_namespace: unsupported('is not supported: there are no agents of clusters'),
  flux_resource_path: unsupported('is not supported: there are no agents of clusters'),
}

const createEnvironment = (database: Database) =>
  endpoint({
    summary: 'Create an environment',
    replies: { 201: environmentWithProjectShape },
    input: z.object({ name: filledText(), ...writtenFields }),
    async handle({ name, external_url, tier, description, auto_stop_setting }, access: ProjectCall, call) {
      const { environment, project } = await environments.addEnvironment(database, access, {
        name,
        externalUrl: external_url || null,
        tier,
        description: description ?? null,
        autoStopSetting: auto_stop_setting ?? 'always',
      })
      return created(presentEnvironmentWithProject(environment, project, call.baseUrl))
    },
  })

const getEnvironment = (database: Database) =>
  endpoint({
    summary: 'Get an environment and its current deployment',
    replies: { 200: z.object({ ...environmentShape.shape, last_deployment: deploymentShape.nullable() }) },
    input: z.object(environmentId),
    async handle({ environment_id: id }, access: ProjectCall, call) {
      const { environment, lastDeployment } = await environments.getEnvironment(database, access, id)
      const last_deployment = lastDeployment && presentDeployment(lastDeployment, call.baseUrl)
      return versioned({ ...presentEnvironment(environment), last_deployment }, environment)
    },
  })

/** Changes an environment. As in GitLab, `name` in the request is ignored because names do not change. */
const updateEnvironment = (database: Database) =>
  endpoint({
    summary: 'Change an environment',
    replies: { 200: environmentWithProjectShape },
    refusals: [412],
    input: z.object({ ...environmentId, ...writtenFields }),
    async handle({ environment_id: id, external_url, ...given }, access: ProjectCall<Caller>, call) {
      const changes = {
        externalUrl: external_url === '' ? null : external_url,
        tier: given.tier,
        description: given.description,
        autoStopSetting: given.auto_stop_setting,
      }
      const precondition = preconditionOf(call)
      const changed = await environments.changeEnvironment(database, access, id, changes, precondition)
      const { environment, project } = changed
      return versioned(presentEnvironmentWithProject(environment, project, call.baseUrl), environment)
    },
  })

/** Stops an environment. `force` has no effect because there are no jobs to wait for. */
const stopEnvironment = (database: Database) =>
  endpoint({
    summary: 'Stop an environment',
    replies: { 200: environmentWithProjectShape },
    input: z.object({ ...environmentId, force: optional(flag()) }),
    async handle({ environment_id: id }, access: ProjectCall<Caller>, call) {
      const { environment, project } = await environments.changeEnvironment(database, access, id, {
        state: 'stopped',
      })
      return ok(presentEnvironmentWithProject(environment, project, call.baseUrl))
    },
  })

const requested = 'Successfully requested stop for all stale environments'

/** Stops stale environments before it answers. */
const stopStaleEnvironments = (database: Database) =>
  endpoint({
    summary: 'Stop the environments without a deployment since a given time',
    replies: { 200: z.object({ message: z.literal(requested) }) },
    input: z.object({ before: time().meta({ description: 'Between ten years and a week ago' }) }),
    async handle({ before }, access: ProjectCall) {
      await environments.stopStaleEnvironments(database, access, before)
      return ok({ message: requested })
    },
  })

const deleteEnvironment = (database: Database) =>
  endpoint({
    summary: 'Delete a stopped environment and its deployments',
    replies: { 204: null },
    refusals: [412],
    input: z.object(environmentId),
    async handle({ environment_id }, access: ProjectCall<Caller>, call) {
      await environments.removeEnvironment(database, access, environment_id, preconditionOf(call))
      return noContent()
    },
  })
