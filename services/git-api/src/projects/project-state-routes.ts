import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  signedIn,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { PipelineWithAuthor } from '../ci/pipelines/store.js'
import type { DeploymentView } from '../delivery/deployments/store.js'
import { deploymentShape, presentDeployment } from '../shapes/deployment.js'
import { listedPipelineShape, presentListedPipeline } from '../shapes/pipeline.js'
import { basicProjectShape, presentBasicProject } from '../shapes/project.js'
import * as projectStates from './project-states.js'
import type { ProjectWithOwner } from './store.js'

const projectStateShape = z
  .object({
    project: basicProjectShape,
    pipeline: listedPipelineShape.nullable().meta({
      description: 'The newest pipeline of the default branch, for callers who may read the code',
    }),
    deployments: z.array(deploymentShape).meta({
      description: 'The newest three running deployments, for reporters of the project',
    }),
  })
  .meta({ id: 'ProjectState', description: 'A project with its pipeline and its running deployments' })

interface ProjectState {
  project: ProjectWithOwner
  pipeline: PipelineWithAuthor | null
  deployments: DeploymentView[]
}

const presentProjectState = (
  { project, pipeline, deployments }: ProjectState,
  baseUrl: string,
): z.output<typeof projectStateShape> => ({
  project: presentBasicProject(project, baseUrl),
  pipeline: pipeline && presentListedPipeline(pipeline, project, baseUrl),
  deployments: deployments.map((deployment) => presentDeployment(deployment, baseUrl)),
})

export const projectStateRoutes = ({ database }: { database: Database }): Route[] => [
  route('GET', '/project_states', signedIn, listProjectStates(database), { refusesUnknown: true }),
]

const listProjectStates = (database: Database) =>
  endpoint({
    summary:
      'List the projects that are not archived with their newest pipeline and running deployments, last active first',
    replies: { 200: z.array(projectStateShape) },
    input: z.object(pageParameters),
    async handle(page, caller: Caller, call) {
      const { states, total } = await projectStates.listProjectStates(database, caller, rowsOf(page))
      return pageReply(
        states.map((state) => presentProjectState(state, call.baseUrl)),
        page,
        total,
        call,
      )
    },
  })
