import type { DeploymentView } from '@switchyard/db'
import { deploymentStatuses } from '@switchyard/domain/deployment'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { basicEnvironmentShape, presentBasicEnvironment } from './environment.js'
import { presentUser, userShape } from './user.js'

export const deploymentShape = z
  .object({
    id: z.int(),
    iid: z.int().meta({ description: 'Number within the project' }),
    ref: z.string(),
    tag: z.boolean().meta({ description: 'Whether ref is a tag' }),
    sha: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
    finished_at: z.date().nullable(),
    user: userShape.nullable(),
    environment: basicEnvironmentShape,
    deployable: z.null(),
    status: oneOf(deploymentStatuses),
    frozen: z.boolean().meta({ description: 'Created within a freeze period' }),
    saga_id: z.string().nullable(),
    saga_tenant: z.string().nullable(),
  })
  .meta({ id: 'Deployment', description: 'A deployment of a commit to an environment' })

/** A deployment in GitLab's shape, with the fields that only Switchyard has. */
export const presentDeployment = (
  deployment: DeploymentView,
  baseUrl: string,
): z.output<typeof deploymentShape> => ({
  id: deployment.id,
  iid: deployment.iid,
  ref: deployment.ref,
  tag: deployment.tag,
  sha: deployment.sha,
  created_at: deployment.createdAt,
  updated_at: deployment.updatedAt,
  finished_at: deployment.finishedAt,
  user: deployment.user && presentUser(deployment.user, baseUrl),
  environment: presentBasicEnvironment(deployment.environment),
  deployable: null,
  status: deployment.status,
  frozen: deployment.frozen,
  saga_id: deployment.sagaId,
  saga_tenant: deployment.sagaTenant,
})
