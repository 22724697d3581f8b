import type { Environment } from '@switchyard/db'
import {
  autoStopSettings,
  deploymentStatuses,
  environmentStates,
  environmentTiers,
} from '@switchyard/domain/deployment'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { DeploymentView } from '../delivery/deployments/store.js'
import type { ApprovalWithUser } from '../delivery/protected-environments/store.js'
import type { ProjectWithOwner } from '../projects/store.js'
import { jobIdentityShape, presentJobIdentity } from './job-identity.js'
import { basicProjectShape, presentBasicProject } from './project.js'
import { presentUser, userShape } from './user.js'

const basicEnvironmentShape = z
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

/** Returns the fields of an environment that a deployment shows. */
const presentBasicEnvironment = (environment: Environment): z.output<typeof basicEnvironmentShape> => ({
  id: environment.id,
  name: environment.name,
  slug: environment.slug,
  external_url: environment.externalUrl,
  created_at: environment.createdAt,
  updated_at: environment.updatedAt,
})

/** Returns an environment in GitLab's shape. */
export const presentEnvironment = (environment: Environment): z.output<typeof environmentShape> => ({
  ...presentBasicEnvironment(environment),
  tier: environment.tier,
  state: environment.state,
  auto_stop_at: null,
  description: environment.description,
  auto_stop_setting: environment.autoStopSetting,
})

/** Returns an environment with its project, for lists and for answers to changes. */
export const presentEnvironmentWithProject = (
  environment: Environment,
  project: ProjectWithOwner,
  baseUrl: string,
): z.output<typeof environmentWithProjectShape> => ({
  ...presentEnvironment(environment),
  project: presentBasicProject(project, baseUrl),
})

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
    frozen: z
      .boolean()
      .meta({ description: 'Created within a freeze period, or while a rule froze the environment' }),
    saga_id: z.string().nullable(),
    saga_tenant: z.string().nullable(),
    job_identity: jobIdentityShape.nullable(),
    services: z.array(z.string()).meta({ description: 'Names of the services that it ships' }),
  })
  .meta({ id: 'Deployment', description: 'A deployment of a commit to an environment' })

/** Returns a deployment in GitLab's shape, with the further fields of Switchyard. */
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
  job_identity: presentJobIdentity(deployment.job),
  services: deployment.services as string[],
})

export const approvalShape = z
  .object({
    user: userShape.nullable(),
    status: z.enum(['approved', 'rejected']),
    created_at: z.date(),
    comment: z.string().nullable(),
  })
  .meta({
    id: 'DeploymentApproval',
    description: 'A decision about a deployment that requires approval',
  })

export const deploymentDetailShape = z
  .object({
    ...deploymentShape.shape,
    pending_approval_count: z.int().optional(),
    approvals: z.array(approvalShape).optional(),
  })
  .meta({ id: 'DeploymentDetail', description: 'A deployment, and in a protected environment its approvals' })

export const presentApproval = (
  { user, status, createdAt, comment }: ApprovalWithUser,
  baseUrl: string,
): z.output<typeof approvalShape> => ({
  user: user && presentUser(user, baseUrl),
  status: status === 'approved' ? 'approved' : 'rejected',
  created_at: createdAt,
  comment,
})

/** @param approval null: the environment is not protected */
export const presentDeploymentDetail = (
  deployment: DeploymentView,
  approval: { pending: number; approvals: ApprovalWithUser[] } | null,
  baseUrl: string,
): z.output<typeof deploymentDetailShape> => ({
  ...presentDeployment(deployment, baseUrl),
  ...(approval && {
    pending_approval_count: approval.pending,
    approvals: approval.approvals.map((each) => presentApproval(each, baseUrl)),
  }),
})
