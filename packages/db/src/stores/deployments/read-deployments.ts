import type { DatabaseOrTransaction } from '../../client.js'
import type { Deployment, Environment, User } from '../../generated/client.js'

/** A deployment with its environment and its user; the user is null when the account is gone. */
export type DeploymentView = Deployment & { environment: Environment; user: DeploymentUser | null }

/** The columns of a user that answers and webhooks show. */
export type DeploymentUser = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email'>

const parts = { environment: true, user: true } as const

/** Deployments match when they meet every condition that is set. Times are exclusive. */
export interface DeploymentFilter {
  projectId: number
  /** Name of the environment. */
  environment?: string | undefined
  status?: string | undefined
  updatedAfter?: Date | undefined
  updatedBefore?: Date | undefined
  finishedAfter?: Date | undefined
  finishedBefore?: Date | undefined
}

export interface DeploymentOrder {
  column: 'id' | 'iid' | 'createdAt' | 'updatedAt' | 'finishedAt'
  direction: 'asc' | 'desc'
}

/** One page of a project's deployments, and the number of all that match. Unfinished ones come last by `finishedAt`. */
export async function listDeployments(
  { prisma }: DatabaseOrTransaction,
  { projectId, environment, status, ...times }: DeploymentFilter,
  { column, direction }: DeploymentOrder,
  rows: { skip: number; take: number },
): Promise<{ deployments: DeploymentView[]; total: number }> {
  const where = {
    projectId,
    status,
    environment: environment === undefined ? undefined : { name: environment },
    updatedAt: { gt: times.updatedAfter, lt: times.updatedBefore },
    finishedAt: between(times.finishedAfter, times.finishedBefore),
  }
  const first =
    column === 'finishedAt'
      ? { finishedAt: { sort: direction, nulls: 'last' as const } }
      : { [column]: direction }
  const [deployments, total] = await Promise.all([
    prisma.deployment.findMany({ where, include: parts, orderBy: [first, { id: direction }], ...rows }),
    prisma.deployment.count({ where }),
  ])
  return { deployments, total }
}

/** The running deployments of projects, the newest first, at most `take` of each project. */
export async function listRunningDeployments(
  { prisma }: DatabaseOrTransaction,
  projectIds: readonly number[],
  take: number,
): Promise<DeploymentView[]> {
  const newest = await prisma.$queryRaw<{ projectId: number; id: number }[]>`
    SELECT d.project_id AS "projectId", d.id FROM unnest(${projectIds}::int[]) AS given(project_id)
    CROSS JOIN LATERAL (SELECT project_id, id FROM deployments
      WHERE project_id = given.project_id AND status = 'running' ORDER BY id DESC LIMIT ${take}) d`
  if (newest.length === 0) return []
  return prisma.deployment.findMany({ where: { OR: newest }, include: parts, orderBy: { id: 'desc' } })
}

const between = (gt: Date | undefined, lt: Date | undefined) =>
  gt === undefined && lt === undefined ? undefined : { gt, lt }

export const findDeployment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<DeploymentView | null> =>
  prisma.deployment.findUnique({ where: { projectId_id: { projectId, id } }, include: parts })

export const findNewestDeployment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<DeploymentView | null> =>
  prisma.deployment.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: parts })

/** The newest first. */
const byEnd = [{ finishedAt: 'desc' }, { id: 'desc' }] as const

/** The successful deployment that ended last: what the environment runs now. */
export const findLastDeployment = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id: environmentId }: Pick<Environment, 'projectId' | 'id'>,
): Promise<DeploymentView | null> =>
  prisma.deployment.findFirst({
    where: { projectId, environmentId, status: 'success' },
    orderBy: [...byEnd],
    include: parts,
  })

/** The last successful deployment to the same environment that had ended before this one did, or, while it goes on, until now. */
export const findDeploymentBefore = (
  { prisma }: DatabaseOrTransaction,
  { projectId, environmentId, id, finishedAt }: Deployment,
): Promise<Deployment | null> =>
  prisma.deployment.findFirst({
    where: {
      projectId,
      environmentId,
      status: 'success',
      id: { not: id },
      ...(finishedAt && { OR: [{ finishedAt: { lt: finishedAt } }, { finishedAt, id: { lt: id } }] }),
    },
    orderBy: [...byEnd],
  })
