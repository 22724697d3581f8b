import { invalid, invalidParameters } from '@switchyard/domain'
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
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import {
  deploymentShape,
  environmentShape,
  environmentWithProjectShape,
  presentDeployment,
  presentEnvironment,
  presentEnvironmentWithProject,
} from '../shapes/deployment.js'
import { optional, optionalText } from '../shapes/parameters.js'
import * as environments from './environments.js'

export function environmentRoutes(deps: Dependencies): Route[] {
  const { readDeployments, deploy } = deps.guards
  const path = '/projects/:id/environments'
  const one = `${path}/:environment_id`
  return [
    route('GET', path, readDeployments, listEnvironments(deps)),
    route('POST', path, deploy, createEnvironment(deps)),
    route('GET', one, readDeployments, getEnvironment(deps)),
    route('PUT', one, deploy, updateEnvironment(deps)),
    route('POST', `${one}/stop`, deploy, stopEnvironment(deps)),
    route('DELETE', one, deploy, deleteEnvironment(deps)),
  ]
}

const environmentId = { environment_id: rowId() }

/** Texts of fewer characters would find nearly everything. */
const searchedCharsMin = 3

const listEnvironments = (deps: Dependencies) =>
  endpoint({
    summary: 'Environments of a project',
    replies: { 200: z.array(environmentWithProjectShape) },
    input: z.object({
      ...pageParameters,
      name: optionalText(text()).meta({ description: 'The whole name' }),
      search: optionalText(text()).meta({ description: 'Part of the name, in upper or lower case' }),
      states: optional(z.enum(environmentStates)),
    }),
    async handle({ name, search, states: state, ...page }, access: ProjectCall, call) {
      if (name !== undefined && search !== undefined) {
        throw invalidParameters(['name, search cannot be used together'])
      }
      if (search !== undefined && search.length < searchedCharsMin) {
        throw invalid(`400 Bad request - Search query is less than ${searchedCharsMin} characters`)
      }
      const found = await environments.listEnvironments(deps, access, { name, search, state }, rowsOf(page))
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

const createEnvironment = (deps: Dependencies) =>
  endpoint({
    summary: 'Create an environment',
    replies: { 201: environmentWithProjectShape },
    input: z.object({ name: filledText(), ...writtenFields }),
    async handle({ name, external_url, tier, description, auto_stop_setting }, access: ProjectCall, call) {
      const { environment, project } = await environments.addEnvironment(deps, access, {
        name,
        externalUrl: external_url || null,
        tier,
        description: description ?? null,
        autoStopSetting: auto_stop_setting ?? 'always',
      })
      return created(presentEnvironmentWithProject(environment, project, call.baseUrl))
    },
  })

const getEnvironment = (deps: Dependencies) =>
  endpoint({
    summary: 'One environment, and the deployment that it runs',
    replies: { 200: z.object({ ...environmentShape.shape, last_deployment: deploymentShape.nullable() }) },
    input: z.object(environmentId),
    async handle({ environment_id }, access: ProjectCall, call) {
      const { environment, lastDeployment } = await environments.getEnvironment(deps, access, environment_id)
      const last_deployment = lastDeployment && presentDeployment(lastDeployment, call.baseUrl)
      return versioned({ ...presentEnvironment(environment), last_deployment }, environment)
    },
  })

/** An environment keeps its name: `name` in the request is ignored, as with GitLab. */
const updateEnvironment = (deps: Dependencies) =>
  endpoint({
    summary: 'Change an environment',
    replies: { 200: environmentWithProjectShape },
    refusals: [412],
    input: z.object({ ...environmentId, ...writtenFields }),
    async handle({ environment_id: id, external_url, ...given }, access: ProjectCall, call) {
      const changes = {
        externalUrl: external_url === '' ? null : external_url,
        tier: given.tier,
        description: given.description,
        autoStopSetting: given.auto_stop_setting,
      }
      const changed = await environments.changeEnvironment(deps, access, id, changes, preconditionOf(call))
      const { environment, project } = changed
      return versioned(presentEnvironmentWithProject(environment, project, call.baseUrl), environment)
    },
  })

/** There are no jobs to wait for, so `force` changes nothing. */
const stopEnvironment = (deps: Dependencies) =>
  endpoint({
    summary: 'Stop an environment',
    replies: { 200: environmentWithProjectShape },
    input: z.object({ ...environmentId, force: optional(flag()) }),
    async handle({ environment_id: id }, access: ProjectCall, call) {
      const { environment, project } = await environments.changeEnvironment(deps, access, id, {
        state: 'stopped',
      })
      return ok(presentEnvironmentWithProject(environment, project, call.baseUrl))
    },
  })

const deleteEnvironment = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a stopped environment with its deployments',
    replies: { 204: null },
    input: z.object(environmentId),
    async handle({ environment_id }, access: ProjectCall) {
      await environments.removeEnvironment(deps, access, environment_id)
      return noContent()
    },
  })
