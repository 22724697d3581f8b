import { invalid, notFound } from '@switchyard/domain'
import {
  type DeploymentProgress,
  type EnvironmentTier,
  guessTier,
  type SagaReference,
} from '@switchyard/domain/deployment'
import type pg from 'pg'
import type { Database } from '../../client.js'
import type { Deployment, Environment } from '../../generated/client.js'
import { inPoolTransaction } from '../../pool-transaction.js'
import { queryOf } from '../../sql/write-rows.js'
import { enqueueForProject, type NewDelivery } from '../webhooks/deliveries.js'
import { findEnvironmentByName, insertEnvironment } from './environments.js'
import { lockProject } from './lock-project.js'
import type { DeploymentUser, DeploymentView } from './read-deployments.js'
import { deploymentColumns, environmentColumns, insertDeploymentRow, updateProgress } from './rows.js'

/** A deployment to add. */
export interface NewDeployment extends Pick<Deployment, 'projectId' | 'ref' | 'tag' | 'sha' | 'frozen'> {
  /** Name of the environment, which is made when it is missing. */
  environment: string
  progress: DeploymentProgress
  userId: number
  saga: SagaReference | null
}

/** Makes the webhook delivery about a deployment; called only when a webhook subscribes to deployments. */
type Tell = (deployment: DeploymentView) => Omit<NewDelivery, 'webhookId'>

/**
 * Adds a deployment, its environment when that is missing, and the webhook deliveries in one transaction. A successful deployment
 * starts a stopped environment, and one that repeats the last successful deployment of the environment adds nothing.
 *
 * @returns the added or the repeated deployment
 * @throws DomainError not-found for the project; invalid when it has as many environments as it can have
 */
export const recordDeployment = (
  { pool }: Pick<Database, 'pool'>,
  given: NewDeployment,
  tell: Tell,
): Promise<{ deployment: DeploymentView; isNew: boolean }> =>
  inPoolTransaction(pool, async (client) => {
    const { projectId, environment: name } = given
    await lockProject(client, projectId)
    const environment =
      (await findEnvironmentByName(client, projectId, name)) ??
      (await insertEnvironment(client, { ...defaults, projectId, name, tier: guessTier(name) }))
    const repeated = await findRepeated(client, environment, given)
    if (repeated) return { deployment: await withParts(client, repeated), isNew: false }
    const added = await insertDeployment(client, environment, given)
    await startAgain(client, added)
    const deployment = await withParts(client, added)
    await enqueueForProject(client, projectId, 'deployment', () => tell(deployment))
    return { deployment, isNew: true }
  })

const defaults = { externalUrl: null, description: null, autoStopSetting: 'always' }

const lastSuccess = {
  name: 'last-deployment-of-environment',
  text: `SELECT ${deploymentColumns} FROM deployments AS stored
    WHERE project_id = $1 AND environment_id = $2 AND status = 'success'
    ORDER BY finished_at DESC, id DESC LIMIT 1`,
}

const findLastSuccess = async (client: pg.PoolClient, projectId: number, environmentId: number) =>
  (await client.query<Deployment>({ ...lastSuccess, values: [projectId, environmentId] })).rows[0] ?? null

/** The last successful deployment when the given one says the same. A saga that the caller does not name may be any. */
async function findRepeated(
  client: pg.PoolClient,
  { projectId, id }: Environment,
  { ref, tag, sha, progress, saga }: NewDeployment,
): Promise<Deployment | null> {
  if (progress.status !== 'success') return null
  const last = await findLastSuccess(client, projectId, id)
  const isSameSaga = saga === null || (last?.sagaId === saga.sagaId && last.sagaTenant === saga.tenant)
  return last?.ref === ref && last.tag === tag && last.sha === sha && isSameSaga ? last : null
}

const nextIid = {
  name: 'next-deployment-iid',
  text: 'UPDATE projects SET last_deployment_iid = last_deployment_iid + 1 WHERE id = $1 RETURNING last_deployment_iid AS iid',
}

async function insertDeployment(
  client: pg.PoolClient,
  environment: Environment,
  { projectId, ref, tag, sha, progress, userId, saga, frozen }: NewDeployment,
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
    ...progress,
    createdAt: progress.updatedAt,
  }
  const { rows } = await client.query<Deployment>(queryOf(insertDeploymentRow, [row]))
  return rows[0] as Deployment
}

async function startAgain(
  client: pg.PoolClient,
  { projectId, environmentId, status }: Deployment,
): Promise<void> {
  if (status !== 'success') return
  await client.query(
    `UPDATE environments SET state = 'available', updated_at = now()
     WHERE project_id = $1 AND id = $2 AND state <> 'available'`,
    [projectId, environmentId],
  )
}

/**
 * Changes the progress of a deployment and stores the webhook deliveries about it in one transaction.
 *
 * @param apply gives the progress that follows; nothing is written when it is the current one. Its errors are passed on
 * @throws DomainError not-found
 */
export const changeDeployment = (
  { pool }: Pick<Database, 'pool'>,
  { projectId, id }: Pick<Deployment, 'projectId' | 'id'>,
  apply: (current: DeploymentProgress) => DeploymentProgress,
  tell: Tell,
): Promise<{ deployment: DeploymentView; isChanged: boolean }> =>
  inPoolTransaction(pool, async (client) => {
    await lockProject(client, projectId)
    const before = await getRow(client, projectId, id)
    const current = before as Deployment & DeploymentProgress
    const next = apply(current)
    if (next === current) return { deployment: await withParts(client, before), isChanged: false }
    const changed = { ...before, ...next }
    await client.query(queryOf(updateProgress, [changed]))
    await startAgain(client, changed)
    const deployment = await withParts(client, changed)
    await enqueueForProject(client, projectId, 'deployment', () => tell(deployment))
    return { deployment, isChanged: true }
  })

/**
 * Deletes a deployment.
 *
 * @throws DomainError not-found; invalid for a running deployment, and for the one that its environment runs now
 */
export const deleteDeployment = (
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  id: number,
): Promise<void> =>
  inPoolTransaction(pool, async (client) => {
    await lockProject(client, projectId)
    const { status, environmentId } = await getRow(client, projectId, id)
    if (status === 'running') throw invalid('Cannot destroy running deployment')
    const last = await findLastSuccess(client, projectId, environmentId)
    if (last?.id === id) throw invalid('Deployment currently deployed to environment')
    await client.query('DELETE FROM deployments WHERE project_id = $1 AND id = $2', [projectId, id])
  })

async function getRow(client: pg.PoolClient, projectId: number, id: number): Promise<Deployment> {
  const { rows } = await client.query<Deployment>(
    `SELECT ${deploymentColumns} FROM deployments AS stored WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  )
  if (!rows[0]) throw notFound()
  return rows[0]
}

async function withParts(client: pg.PoolClient, deployment: Deployment): Promise<DeploymentView> {
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
