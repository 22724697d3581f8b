import { isDeepStrictEqual } from 'node:util'
import {
  type Deployment,
  type Environment,
  enqueueForProject,
  inPoolTransaction,
  type NewDelivery,
  type PoolClient,
  type Pooled,
} from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import { type DeploymentProgress, guessTier } from '@switchyard/domain/deployment'
import { enqueueMeasurement } from '../deployment-changes/store.js'
import { findEnvironmentByName, insertEnvironment, startAgain } from '../environments/store.js'
import {
  type DeploymentView,
  findLastSuccess,
  insertDeployment,
  type NewDeployment,
  updateDeployment,
  withParts,
} from './store.js'

interface RecordedDeployment extends NewDeployment {
  /** Name of the environment, which is created when it is missing. */
  environment: string
  /** Whether the caller has given the services. */
  namesServices: boolean
}

/**
 * A function that makes the webhook delivery about a deployment; called only when a webhook subscribes to
 * deployments.
 */
type MakeDelivery = (deployment: DeploymentView) => Omit<NewDelivery, 'webhookId'>

/**
 * Adds a deployment, its environment when that is missing, and the webhook deliveries in one transaction. A
 * successful deployment starts a stopped environment. A deployment that repeats the last successful one of
 * the environment adds nothing.
 *
 * @returns the added or the repeated deployment
 * @throws DomainError not-found for the project; invalid when it has too many environments
 */
export const recordDeployment = (
  { pool }: Pooled,
  given: RecordedDeployment,
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
    await applySuccess(client, added)
    return { deployment: await enqueueDeployment(client, added, makeDelivery), isNew: true }
  })

const defaults = { externalUrl: null, description: null, autoStopSetting: 'always' }

/**
 * Returns the last successful deployment when the given one repeats it. A saga or services that the caller
 * does not give match any.
 */
async function findRepeated(
  client: PoolClient,
  { projectId, id }: Environment,
  { ref, tag, sha, progress, saga, services, namesServices }: RecordedDeployment,
): Promise<Deployment | null> {
  if (progress.status !== 'success') return null
  const last = await findLastSuccess(client, projectId, id)
  const isSameSaga = saga === null || (last?.sagaId === saga.sagaId && last.sagaTenant === saga.tenant)
  const isSameServices = !namesServices || isDeepStrictEqual(last?.services, services)
  const isSame = last?.ref === ref && last.tag === tag && last.sha === sha && isSameSaga && isSameServices
  return isSame ? last : null
}

/** Starts a stopped environment again after a success, and enqueues the measurement. */
async function applySuccess(client: PoolClient, deployment: Deployment): Promise<void> {
  if (deployment.status !== 'success') return
  await startAgain(client, deployment.projectId, deployment.environmentId)
  await enqueueMeasurement(client, deployment)
}

/**
 * Changes the progress of a locked deployment and stores the webhook deliveries about it.
 *
 * @param apply returns the new progress; nothing is written when it equals the current one. Its errors are
 *   passed on
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
  await updateDeployment(client, changed)
  await applySuccess(client, changed)
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
