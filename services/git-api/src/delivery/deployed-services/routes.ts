import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  filledText,
  ok,
  pageParameters,
  pageReply,
  type Route,
  refusingUnknown,
  route,
  rowsOf,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectResourceDependencies } from '../../guards.js'
import {
  deploymentShape,
  environmentShape,
  presentDeployment,
  presentEnvironment,
} from '../../shapes/deployment.js'
import { foundImpactShape, presentFoundImpact } from '../../shapes/impact-finding.js'
import { serviceCharsMax } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import type { DeploymentInProject } from '../deployments/store.js'
import type { ServiceView } from './deployed-services.js'
import * as deployedServices from './deployed-services.js'
import type { DeployedService } from './store.js'

export const deployedServiceRoutes = ({ database }: Pick<ProjectResourceDependencies, 'database'>): Route[] =>
  refusingUnknown([
    route('GET', '/services', signedIn, listServices(database)),
    route('GET', '/services/:name', signedIn, getService(database)),
  ])

const deploymentInProjectShape = z.object({ ...deploymentShape.shape, project: projectReferenceShape })

const serviceShape = z
  .object({
    name: z.string(),
    last_deployment: deploymentInProjectShape.meta({ description: 'The newest deployment of the service' }),
  })
  .meta({ id: 'Service', description: 'A deployed service' })

const serviceDetailShape = z
  .object({
    name: z.string(),
    environments: z
      .array(
        z.object({ ...environmentShape.shape, project: projectReferenceShape, deployment: deploymentShape }),
      )
      .meta({
        description:
          'Where the service runs, production first: each with the last successful deployment that ships it; 100 at most',
      }),
    deployments: z
      .array(deploymentInProjectShape)
      .meta({ description: 'The newest 20 deployments of the service' }),
    findings: z.array(foundImpactShape).meta({
      description: 'The findings about deployments of the service, newest first, at most 20',
    }),
  })
  .meta({ id: 'ServiceDetail', description: 'A deployed service with its environments and deployments' })

const listServices = (database: Database) =>
  endpoint({
    summary: 'List the deployed services that the caller may read, by name',
    replies: { 200: z.array(serviceShape) },
    input: z.object({
      ...pageParameters,
      search: text().default('').meta({ description: 'Part of the name, case-insensitive' }),
    }),
    async handle(given, caller: Caller, call) {
      const found = await deployedServices.listServices(database, caller, given.search, rowsOf(given))
      const items = found.services.map((service) => presentService(service, call.baseUrl))
      return pageReply(items, given, found.total, call)
    },
  })

const getService = (database: Database) =>
  endpoint({
    summary: 'Get the environments of a service, its newest deployments, and the findings about them',
    replies: { 200: serviceDetailShape },
    input: z.object({ name: filledText(serviceCharsMax) }),
    async handle({ name }, caller: Caller, call) {
      const service = await deployedServices.getService(database, caller, name)
      return ok(presentDetail(service, call.baseUrl))
    },
  })

const presentInProject = (deployment: DeploymentInProject, baseUrl: string) => ({
  ...presentDeployment(deployment, baseUrl),
  project: presentProjectReference(deployment.project),
})

const presentService = (
  { name, lastDeployment }: DeployedService,
  baseUrl: string,
): z.output<typeof serviceShape> => ({
  name,
  last_deployment: presentInProject(lastDeployment, baseUrl),
})

const presentDetail = (
  { name, running, newest, findings }: ServiceView,
  baseUrl: string,
): z.output<typeof serviceDetailShape> => ({
  name,
  environments: running.map((deployment) => ({
    ...presentEnvironment(deployment.environment),
    project: presentProjectReference(deployment.project),
    deployment: presentDeployment(deployment, baseUrl),
  })),
  deployments: newest.map((deployment) => presentInProject(deployment, baseUrl)),
  findings: findings.map((finding) => presentFoundImpact(finding, baseUrl)),
})
