import { isDeepStrictEqual } from 'node:util'
import type { PoolClient, Pooled, Rows } from '@switchyard/db'
import {
  type DatabaseOrTransaction,
  type Deployment,
  type Environment,
  enqueueForProject,
  inPoolTransaction,
  type NewDelivery,
  type Project,
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
import { invalid, notFound, type Precondition } from '@switchyard/domain'
import type { JobIdentity } from '@switchyard/domain/access'
import {
  type DeploymentProgress,
  type EnvironmentTier,
  guessTier,
  type SagaReference,
} from '@switchyard/domain/deployment'
import { awaitMeasuring } from '../deployment-changes/store.js'
import {
  environmentColumns,
  findEnvironmentByName,
  insertEnvironment,
  startAgain,
} from '../environments/store.js'

/** The one list of the columns of `deployments`. */
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

/** A deployment with its environment and its user; the user is null when the account is gone. */
export type DeploymentView = Deployment & { environment: Environment; user: DeploymentUser | null }

/** The same with its project, where deployments of several projects are shown. */
export type DeploymentInProject = DeploymentView & { project: Project }

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

/**
 * The same, and keeps others from changing and deleting deployments of the project until the transaction ends.
 *
 * @throws DomainError not-found
 */
export async function lockDeployment(
  transaction: DatabaseOrTransaction,
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
    orderBy: [{ finishedAt: 'desc' }, { id: 'desc' }],
  })

/** A deployment to add. */
export interface NewDeployment extends Pick<Deployment, 'projectId' | 'ref' | 'tag' | 'sha' | 'frozen'> {
  /** Name of the environment, which is made when it is missing. */
  environment: string
  progress: DeploymentProgress
  userId: number
  saga: SagaReference | null
  /** The CI job that deploys; null: none. */
  job: JobIdentity | null
  /** Names of the services that it ships, and whether the caller has given them. */
  services: string[]
  namesServices: boolean
}

/** Makes the webhook delivery about a deployment; called only when a webhook subscribes to deployments. */
type MakeDelivery = (deployment: DeploymentView) => Omit<NewDelivery, 'webhookId'>

/**
 * Adds a deployment, its environment when that is missing, and the webhook deliveries in one transaction. A successful deployment
 * starts a stopped environment, and one that repeats the last successful deployment of the environment adds nothing.
 *
 * @returns the added or the repeated deployment
 * @throws DomainError not-found for the project; invalid when it has as many environments as it can have
 */
export const recordDeployment = (
  { pool }: Pooled,
  given: NewDeployment,
  makeDelivery: MakeDelivery,
): Promise<{ deployment: DeploymentView; isNew: boolean }> =>
  inPoolTransaction(pool, async (client) => {
    const { projectId, environment: name } = given
    await lockProjectRow(client, projectId)
    const environment =
      (await findEnvironmentByName(client, projectId, name)) ??
      (await insertEnvironment(client, { ...defaults, projectId, name, tier: guessTier(name) }))
    const repeated = await findRepeated(client, environment, given)
    if (repeated) return { deployment: await withParts(client, repeated), isNew: false }
    const added = await insertDeployment(client, environment, given)
    await noteSuccess(client, added)
    return { deployment: await enqueueDeployment(client, added, makeDelivery), isNew: true }
  })

const defaults = { externalUrl: null, description: null, autoStopSetting: 'always' }

const lastSuccess = {
  name: 'last-deployment-of-environment',
  text: `SELECT ${deploymentColumns} FROM deployments AS stored
    WHERE project_id = $1 AND environment_id = $2 AND status = 'success'
    ORDER BY finished_at DESC, id DESC LIMIT 1`,
}

type Queries = Pick<PoolClient, 'query'>

const findLastSuccess = async (client: Queries, projectId: number, environmentId: number) =>
  (await client.query<Deployment>({ ...lastSuccess, values: [projectId, environmentId] })).rows[0] ?? null

/** The successful deployment that ended last: what the environment runs now. */
export async function findLastDeployment(
  { pool }: Pooled,
  { projectId, id }: Pick<Environment, 'projectId' | 'id'>,
): Promise<DeploymentView | null> {
  const last = await findLastSuccess(pool, projectId, id)
  return last && withParts(pool, last)
}

/** The last successful deployment when the given one says the same. A saga and services that the caller does not name may be any. */
async function findRepeated(
  client: PoolClient,
  { projectId, id }: Environment,
  { ref, tag, sha, progress, saga, services, namesServices }: NewDeployment,
): Promise<Deployment | null> {
  if (progress.status !== 'success') return null
  const last = await findLastSuccess(client, projectId, id)
  const isSameSaga = saga === null || (last?.sagaId === saga.sagaId && last.sagaTenant === saga.tenant)
  const isSameServices = !namesServices || isDeepStrictEqual(last?.services, services)
  const isSame = last?.ref === ref && last.tag === tag && last.sha === sha && isSameSaga && isSameServices
  return isSame ? last : null
}

const nextIid = {
  name: 'next-deployment-iid',
  text: 'UPDATE projects SET last_deployment_iid = last_deployment_iid + 1 WHERE id = $1 RETURNING last_deployment_iid AS iid',
}

async function insertDeployment(
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

/** A success starts a stopped environment again, and what it brings is measured. */
async function noteSuccess(client: PoolClient, deployment: Deployment): Promise<void> {
  if (deployment.status !== 'success') return
  await startAgain(client, deployment.projectId, deployment.environmentId)
  await awaitMeasuring(client, deployment)
}

/**
 * Does work in a transaction, in which nobody else changes or deletes deployments of the project.
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

/**
 * Changes the progress of a locked deployment and stores the webhook deliveries about it.
 *
 * @param apply gives the progress that follows; nothing is written when it is the current one. Its errors are passed on
 */
export async function changeLockedDeployment(
  client: PoolClient,
  before: Deployment & DeploymentProgress,
  apply: (current: DeploymentProgress) => DeploymentProgress,
  makeDelivery: MakeDelivery,
): Promise<{ deployment: DeploymentView; isChanged: boolean }> {
  const next = apply(before)
  if (next === before) return { deployment: await withParts(client, before), isChanged: false }
  const changed = { ...before, ...next }
  await client.query(queryOf(updateProgress, [changed]))
  await noteSuccess(client, changed)
  return { deployment: await enqueueDeployment(client, changed, makeDelivery), isChanged: true }
}

/** Stores the webhook deliveries about a deployment. */
export async function enqueueDeployment(
  client: PoolClient,
  row: Deployment,
  makeDelivery: MakeDelivery,
): Promise<DeploymentView> {
  const deployment = await withParts(client, row)
  await enqueueForProject(client, row.projectId, 'deployment', () => makeDelivery(deployment))
  return deployment
}

/**
 * Deletes a deployment.
 *
 * @throws DomainError not-found; precondition-failed; invalid for a running deployment, and for the one that its environment runs now
 */
export const deleteDeployment = (
  database: Pooled,
  projectId: number,
  id: number,
  precondition: Precondition | undefined,
): Promise<void> =>
  withLockedDeployment(database, { projectId, id }, async (client, locked) => {
    const { status, environmentId, updatedAt } = locked
    precondition?.(updatedAt)
    if (status === 'running') throw invalid('Cannot destroy running deployment')
    const last = await findLastSuccess(client, projectId, environmentId)
    if (last?.id === id) throw invalid('Deployment currently deployed to environment')
    await client.query('DELETE FROM deployments WHERE project_id = $1 AND id = $2', [projectId, id])
  })

async function getRow(client: PoolClient, projectId: number, id: number): Promise<Deployment> {
  const { rows } = await client.query<Deployment>(
    `SELECT ${deploymentColumns} FROM deployments AS stored WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  )
  if (!rows[0]) throw notFound()
  return rows[0]
}

async function withParts(client: Queries, deployment: Deployment): Promise<DeploymentView> {
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
