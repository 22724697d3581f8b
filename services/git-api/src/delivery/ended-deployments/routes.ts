import type { Database } from '@switchyard/db'
import { type Measure, measures } from '@switchyard/delivery-impact'
import type { Caller } from '@switchyard/domain/access'
import { environmentTiers } from '@switchyard/domain/deployment'
import {
  endpoint,
  oneOf,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  signedIn,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectResourceDependencies } from '../../guards.js'
import { deploymentShape, presentDeployment } from '../../shapes/deployment.js'
import { optional } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import * as endedDeployments from './ended-deployments.js'
import type { EndedDeployment } from './store.js'

const endedDeploymentShape = z
  .object({
    ...deploymentShape.shape,
    tier: oneOf(environmentTiers).meta({ description: 'Of the environment' }),
    project: projectReferenceShape,
    findings: z
      .array(z.object({ service_name: z.string(), tenant: z.string(), measure: oneOf(measures) }))
      .meta({ description: 'What became worse with it: the first 20' }),
    dismissed: z.boolean().meta({ description: 'A person says that it is not the reason' }),
  })
  .meta({ id: 'EndedDeployment', description: 'A deployment that has ended, and what became worse with it' })

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

export const endedDeploymentRoutes = ({
  database,
}: Pick<ProjectResourceDependencies, 'database'>): Route[] => [
  route('GET', '/deployments', signedIn, listEndedDeployments(database), { refusesUnknown: true }),
]

const listEndedDeployments = (database: Database) =>
  endpoint({
    summary: 'Deployments of every project that have ended and that the caller may read, the last one first',
    replies: { 200: z.array(endedDeploymentShape) },
    input: z.object({
      ...pageParameters,
      finished_after: optional(time()).meta({ description: 'Else a day ago' }),
      finished_before: optional(time()),
    }),
    async handle({ finished_after, finished_before, ...page }, caller: Caller, call) {
      const times = { finishedAfter: finished_after, finishedBefore: finished_before }
      const found = await endedDeployments.listEndedDeployments(database, caller, times, rowsOf(page))
      const items = found.deployments.map((each) => presentEndedDeployment(each, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })
