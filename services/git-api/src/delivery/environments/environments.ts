import { type Database, type Environment, inTransaction, type Rows, requireUnchanged } from '@switchyard/db'
import { dayMs, forbidden, invalid, notFound, type Precondition, refuseProblems } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type EnvironmentTier, environmentProblems, guessTier } from '@switchyard/domain/deployment'
import { findUser } from '../../access/users/store.js'
import type { ProjectCall } from '../../guards.js'
import type { ProjectWithOwner } from '../../projects/store.js'
import { type DeploymentView, findLastDeployment } from '../deployments/store.js'
import { requireMayChange } from '../protected-environments/protected-environments.js'
import type { EnvironmentChanges, EnvironmentFilter } from './store.js'
import * as store from './store.js'

/** Environments, and the project that answers show with each of them. */
interface EnvironmentPage {
  environments: Environment[]
  total: number
  project: ProjectWithOwner
}

/** Lists the environments of a project, by id, that meet every given condition. */
export async function listEnvironments(
  database: Database,
  { project }: ProjectCall,
  filter: Omit<EnvironmentFilter, 'projectId'>,
  rows: Rows,
): Promise<EnvironmentPage> {
  const found = await store.listEnvironments(database, { ...filter, projectId: project.id }, rows)
  return { ...found, project: await withOwner(database, project) }
}

/**
 * Returns an environment with the deployment that it runs now.
 *
 * @throws DomainError not-found
 */
export async function getEnvironment(
  database: Database,
  { project }: ProjectCall,
  id: number,
): Promise<{ environment: Environment; lastDeployment: DeploymentView | null }> {
  const environment = await store.findEnvironment(database, project.id, id)
  if (!environment) throw notFound()
  return { environment, lastDeployment: await findLastDeployment(database, environment) }
}

interface AddEnvironmentCommand {
  name: string
  externalUrl: string | null
  /** Undefined: the tier is derived from the name. */
  tier: EnvironmentTier | undefined
  description: string | null
  autoStopSetting: string
}

interface EnvironmentWithProject {
  environment: Environment
  project: ProjectWithOwner
}

/**
 * @throws DomainError invalid, by field; invalid for a name that the project has already, and when it has as
 *   many environments as are allowed
 */
export async function addEnvironment(
  database: Database,
  { project }: ProjectCall,
  command: AddEnvironmentCommand,
): Promise<EnvironmentWithProject> {
  refuseProblems(environmentProblems(command))
  const tier = command.tier ?? guessTier(command.name)
  const environment = await store.createEnvironment(database, { ...command, tier, projectId: project.id })
  if (!environment) throw invalid(['Name has already been taken'])
  return { environment, project: await withOwner(database, project) }
}

/** @throws DomainError not-found; forbidden for a caller who may not deploy to a protected environment */
async function requireChangeable(database: Database, access: ProjectCall<Caller>, id: number): Promise<void> {
  const environment = await store.findEnvironment(database, access.project.id, id)
  if (!environment) throw notFound()
  await requireMayChange(database, access, environment.name)
}

/**
 * Changes the given fields and keeps the other fields.
 *
 * @throws DomainError not-found; forbidden for a caller who may not deploy to a protected environment;
 *   precondition-failed; invalid, by field
 */
export async function changeEnvironment(
  database: Database,
  access: ProjectCall<Caller>,
  id: number,
  changes: { [Field in keyof EnvironmentChanges]: EnvironmentChanges[Field] | undefined },
  precondition?: Precondition,
): Promise<EnvironmentWithProject> {
  refuseProblems(environmentProblems(changes))
  await requireChangeable(database, access, id)
  const { project } = access
  const environment = await inTransaction(database, async (transaction) => {
    await requireUnchanged(transaction, 'environments', { project_id: project.id, id }, precondition)
    return store.updateEnvironment(transaction, project.id, id, changes)
  })
  if (!environment) throw notFound()
  return { environment, project: await withOwner(database, project) }
}

/** The range of ages that GitLab accepts too: an environment that is younger than a week is not stale. */
const staleDays = { youngest: 7, oldest: 3653 }

/**
 * Stops the environments without any activity since a time, except protected ones.
 *
 * @throws DomainError invalid for a time that is too late or too early
 */
export async function stopStaleEnvironments(
  database: Database,
  { project }: ProjectCall,
  before: Date,
): Promise<void> {
  const ageDays = (Date.now() - before.getTime()) / dayMs
  if (ageDays < staleDays.youngest || ageDays > staleDays.oldest) {
    throw invalid(
      '400 Bad request - Invalid Date: before is a week ago at the latest, and ten years at the earliest',
    )
  }
  await store.stopEnvironmentsOlderThan(database, project.id, before)
}

/**
 * Deletes a stopped environment with its deployments.
 *
 * @throws DomainError not-found; precondition-failed; forbidden unless it is stopped, and for a caller who
 *   may not deploy to a protected environment
 */
export async function removeEnvironment(
  database: Database,
  access: ProjectCall<Caller>,
  id: number,
  precondition?: Precondition,
): Promise<void> {
  await requireChangeable(database, access, id)
  if (await store.deleteStoppedEnvironment(database, access.project.id, id, precondition)) return
  if (!(await store.findEnvironment(database, access.project.id, id))) throw notFound()
  throw forbidden('Only a stopped environment can be deleted. Stop it first')
}

async function withOwner(database: Database, project: ProjectCall['project']) {
  const owner = await findUser(database, project.ownerId)
  if (!owner) throw notFound('Project')
  return { ...project, owner }
}
