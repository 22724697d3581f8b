import type { DeploymentView, PipelineWithAuthor, ProjectWithOwner } from '@switchyard/db'
import { z } from 'zod'
import { deploymentShape, presentDeployment } from './deployment.js'
import { listedPipelineShape, presentListedPipeline } from './pipeline.js'
import { basicProjectShape, presentBasicProject } from './project.js'

export const projectStateShape = z
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

export const presentProjectState = (
  { project, pipeline, deployments }: ProjectState,
  baseUrl: string,
): z.output<typeof projectStateShape> => ({
  project: presentBasicProject(project, baseUrl),
  pipeline: pipeline && presentListedPipeline(pipeline, project, baseUrl),
  deployments: deployments.map((deployment) => presentDeployment(deployment, baseUrl)),
})
