import {
  type Database,
  type DatabaseOrTransaction,
  type Deployment,
  type DeploymentFinding,
  type Environment,
  inPoolTransaction,
  type PoolClient,
  type Pooled,
  type Prisma,
  type PrismaTransaction,
  type Project,
  type Rows,
  type User,
} from '@switchyard/db'
import {
  flag,
  insertInto,
  integer,
  json,
  lockProjectRow,
  omit,
  pick,
  queryOf,
  rowColumns,
  selectList,
  text,
  time,
  updateIn,
} from '@switchyard/db/sql'
import { notFound } from '@switchyard/domain'
import type { Caller, JobIdentity } from '@switchyard/domain/access'
import type { DeploymentProgress, EnvironmentTier, SagaReference } from '@switchyard/domain/deployment'
import { environmentColumns, projectsWithReadableDeployments } from '../environments/store.js'

/** The columns of `deployments`. */
const deployments = rowColumns<Deployment>({
  projectId: integer('project_id'),
  id: integer('id'),
  iid: integer('iid'),
  environmentId: integer('environment_id'),
  ref: text('ref'),
  tag: flag('tag'),
  sha: text('sha'),
  status: text('status'),
  userId: integer('user_id'),
  sagaTenant: text('saga_tenant'),
  sagaId: text('saga_id'),
  frozen: flag('frozen'),
  job: json('job'),
  services: json('services'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
  finishedAt: time('finished_at'),
})

const deploymentColumns = selectList('stored', deployments)

/** Returns the new row. */
const insertDeploymentRow = insertInto(
  'add-deployment',
  'deployments',
  omit(deployments, 'id'),
  `RETURNING ${deploymentColumns}`,
)

const updateProgress = updateIn(
  'change-deployment',
  'deployments',
  pick(deployments, 'projectId', 'id'),
  pick(deployments, 'status', 'updatedAt', 'finishedAt'),
)

/** A deployment with its environment and its user; the user is null when the account no longer exists. */
export type DeploymentView = Deployment & { environment: Environment; user: DeploymentUser | null }

/** A deployment with its project, for lists across projects. */
export type DeploymentInProject = DeploymentView & { project: Project }

/** The columns of a user that answers and webhooks show. */
export type DeploymentUser = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email'>

const parts = { environment: true, user: true } as const

/** Conditions on deployments; a deployment must meet every condition that is set. Times are exclusive. */
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

/**
 * Returns one page of a project's deployments, and the number of all that match. In the order by
 * `finishedAt`, unfinished ones come last.
 */
export async function listDeployments(
  { prisma }: DatabaseOrTransaction,
  { projectId, environment, status, ...times }: DeploymentFilter,
  { column, direction }: DeploymentOrder,
  rows: Rows,
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

/** An ended deployment of any project, with its findings. */
export type EndedDeployment = DeploymentInProject & {
  /** The first findings of the deployment. */
  findings: Pick<DeploymentFinding, 'tenant' | 'serviceName' | 'measure'>[]
  isDismissed: boolean
}

interface EndedFilter {
  finishedAfter: Date
  finishedBefore: Date | undefined
  /** Tenants whose findings are shown; null: every tenant. */
  tenants: readonly string[] | null
}

/** Most findings of a deployment that are shown. */
const findingsMax = 20

/** Returns one page of the ended deployments that the caller may read, the latest first. */
export async function listEndedDeployments(
  { prisma }: Database,
  caller: Caller,
  { finishedAfter, finishedBefore, tenants }: EndedFilter,
  rows: Rows,
): Promise<{ deployments: EndedDeployment[]; total: number }> {
  const where = {
    finishedAt: { gte: finishedAfter, lte: finishedBefore },
    project: projectsWithReadableDeployments(caller),
  } satisfies Prisma.DeploymentWhereInput
  const findings = {
    where: tenants === null ? {} : { tenant: { in: [...tenants] } },
    orderBy: [{ changePointAt: 'asc' as const }, { id: 'asc' as const }],
    take: findingsMax,
  }
  const [found, total] = await Promise.all([
    prisma.deployment.findMany({
      where,
      include: { ...parts, project: true, findings, dismissal: true },
      orderBy: [{ finishedAt: 'desc' }, { projectId: 'asc' }, { id: 'asc' }],
      ...rows,
    }),
    prisma.deployment.count({ where }),
  ])
  const deployments = found.map(({ dismissal, ...each }) => ({ ...each, isDismissed: dismissal !== null }))
  return { deployments, total }
}

/** Lists the running deployments of projects, newest first, at most `take` of each project. */
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

/**
 * Returns a deployment, and locks the deployments of the project until the transaction ends.
 *
 * @throws DomainError not-found
 */
export async function lockDeployment(
  transaction: PrismaTransaction,
  projectId: number,
  id: number,
): Promise<DeploymentView> {
  await lockProjectRow(transaction, projectId)
  const deployment = await findDeployment(transaction, projectId, id)
  if (!deployment) throw notFound()
  return deployment
}

export const findNewestDeployment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<DeploymentView | null> =>
  prisma.deployment.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: parts })

/**
 * Finds the last successful deployment to the same environment that ended before this one ended; for an
 * unfinished deployment, that ended before now.
 */
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
    orderBy: [{ finishedAt: 'desc' }, { id: 'desc' }],
  })

/** A deployment to add. */
export interface NewDeployment extends Pick<Deployment, 'projectId' | 'ref' | 'tag' | 'sha' | 'frozen'> {
  progress: DeploymentProgress
  userId: number
  saga: SagaReference | null
  /** The CI job that deploys; null: none. */
  job: JobIdentity | null
  /** Names of the services that the deployment ships. */
  services: string[]
}

const lastSuccess = {
  name: 'last-deployment-of-environment',
  text: `SELECT ${deploymentColumns} FROM deployments AS stored
    WHERE project_id = $1 AND environment_id = $2 AND status = 'success'
    ORDER BY finished_at DESC, id DESC LIMIT 1`,
}

type Queries = Pick<PoolClient, 'query'>

/** Like `findLastDeployment`, but returns only the row. */
export const findLastSuccess = async (client: Queries, projectId: number, environmentId: number) =>
  (await client.query<Deployment>({ ...lastSuccess, values: [projectId, environmentId] })).rows[0] ?? null

/** Finds the successful deployment that ended last, which the environment runs now. */
export async function findLastDeployment(
  { pool }: Pooled,
  { projectId, id }: Pick<Environment, 'projectId' | 'id'>,
): Promise<DeploymentView | null> {
  const last = await findLastSuccess(pool, projectId, id)
  return last && withParts(pool, last)
}

const nextIid = {
  name: 'next-deployment-iid',
  text: 'UPDATE projects SET last_deployment_iid = last_deployment_iid + 1 WHERE id = $1 RETURNING last_deployment_iid AS iid',
}

/** Adds a deployment with the next number of its project, whose row must be locked. */
export async function insertDeployment(
  client: PoolClient,
  environment: Environment,
  { projectId, ref, tag, sha, progress, userId, saga, frozen, job, services }: NewDeployment,
): Promise<Deployment> {
  const numbered = await client.query<{ iid: number }>({ ...nextIid, values: [projectId] })
  const row = {
    projectId,
    iid: numbered.rows[0]?.iid as number,
    environmentId: environment.id,
    ref,
    tag,
    sha,
    userId,
    sagaTenant: saga?.tenant ?? null,
    sagaId: saga?.sagaId ?? null,
    frozen,
    job: job && { ...job },
    services,
    ...progress,
    createdAt: progress.updatedAt,
  }
  const { rows } = await client.query<Deployment>(queryOf(insertDeploymentRow, [row]))
  return rows[0] as Deployment
}

/**
 * Does work in a transaction that locks the deployments of the project.
 *
 * @throws DomainError not-found
 */
export const withLockedDeployment = <Result>(
  { pool }: Pooled,
  { projectId, id }: Pick<Deployment, 'projectId' | 'id'>,
  work: (client: PoolClient, deployment: Deployment & DeploymentProgress) => Promise<Result>,
): Promise<Result> =>
  inPoolTransaction(pool, async (client) => {
    await lockProjectRow(client, projectId)
    return work(client, (await getRow(client, projectId, id)) as Deployment & DeploymentProgress)
  })

/** Stores the progress of a deployment. */
export async function updateDeployment(client: PoolClient, deployment: Deployment): Promise<void> {
  await client.query(queryOf(updateProgress, [deployment]))
}

export async function removeDeployment(
  client: PoolClient,
  { projectId, id }: Pick<Deployment, 'projectId' | 'id'>,
): Promise<void> {
  await client.query('DELETE FROM deployments WHERE project_id = $1 AND id = $2', [projectId, id])
}

async function getRow(client: PoolClient, projectId: number, id: number): Promise<Deployment> {
  const { rows } = await client.query<Deployment>(
    `SELECT ${deploymentColumns} FROM deployments AS stored WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  )
  if (!rows[0]) throw notFound()
  return rows[0]
}

/** Returns a deployment with its environment and its user, as the transaction sees them. */
export async function withParts(client: Queries, deployment: Deployment): Promise<DeploymentView> {
  const { projectId, environmentId, userId } = deployment
  const environments = await client.query<Environment & { tier: EnvironmentTier }>(
    `SELECT ${environmentColumns} FROM environments AS stored WHERE project_id = $1 AND id = $2`,
    [projectId, environmentId],
  )
  const users = await client.query<DeploymentUser>(
    'SELECT id, username, name, state, email FROM users WHERE id = $1',
    [userId],
  )
  return { ...deployment, environment: environments.rows[0] as Environment, user: users.rows[0] ?? null }
}
