import type { Environment, ProjectWithOwner } from '@switchyard/db'
import { autoStopSettings, environmentStates, environmentTiers } from '@switchyard/domain/deployment'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { basicProjectShape, presentBasicProject } from './project.js'

export const basicEnvironmentShape = z
  .object({
    id: z.int(),
    name: z.string(),
    slug: z.string(),
    external_url: z.string().nullable(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'BasicEnvironment', description: 'The environment of a deployment' })

export const environmentShape = z
  .object({
    ...basicEnvironmentShape.shape,
    tier: oneOf(environmentTiers),
    state: oneOf(environmentStates),
    auto_stop_at: z.null(),
    description: z.string().nullable(),
    auto_stop_setting: oneOf(autoStopSettings),
  })
  .meta({ id: 'Environment', description: 'A place to which a project is deployed' })

export const environmentWithProjectShape = z
  .object({ ...environmentShape.shape, project: basicProjectShape })
  .meta({ id: 'EnvironmentWithProject' })

/** The fields of an environment that a deployment shows. */
export const presentBasicEnvironment = (
  environment: Environment,
): z.output<typeof basicEnvironmentShape> => ({
  id: environment.id,
  name: environment.name,
  slug: environment.slug,
  external_url: environment.externalUrl,
  created_at: environment.createdAt,
  updated_at: environment.updatedAt,
})

/** An environment in GitLab's shape. */
export const presentEnvironment = (environment: Environment): z.output<typeof environmentShape> => ({
  ...presentBasicEnvironment(environment),
  tier: environment.tier,
  state: environment.state,
  auto_stop_at: null,
  description: environment.description,
  auto_stop_setting: environment.autoStopSetting,
})

/** An environment with its project, for lists and for answers to changes. */
export const presentEnvironmentWithProject = (
  environment: Environment,
  project: ProjectWithOwner,
  baseUrl: string,
): z.output<typeof environmentWithProjectShape> => ({
  ...presentEnvironment(environment),
  project: presentBasicProject(project, baseUrl),
})
