import type { Database, Pooled, Rows } from '@switchyard/db'
import {
  dayMs,
  type FieldProblems,
  invalid,
  notFound,
  type Precondition,
  systemClock,
} from '@switchyard/domain'
import { boundTenantsOf, type Caller, ownTenant, requireTenant } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import {
  beginDeployment,
  type DeploymentStatus,
  environmentNameProblem,
  moveDeployment,
  readSagaReference,
} from '@switchyard/domain/deployment'
import { commitsBetween, findCommit, findCommitId, listCommits } from '@switchyard/git-storage/commits'
import { findBranchTip, findTagTarget, keepCommit } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { getCommit } from '../../repository/commits/commits.js'
import { deploymentHook } from '../../shapes/hooks.js'
import { type FreezeDependencies, findFreeze, frozenError } from '../freezes/freezes.js'
import { requireMayDeploy } from '../protected-environments/protected-environments.js'
import { changeLockedDeployment, recordDeployment } from './record-deployment.js'
import type { DeploymentFilter, DeploymentOrder, DeploymentView, EndedDeployment } from './store.js'
import * as store from './store.js'

export { changeLockedDeployment, enqueueDeployment } from './record-deployment.js'

export interface DeploymentDependencies extends ProjectResourceDependencies, FreezeDependencies {
  messages: OutgoingMessages
}

/** Lists the deployments of a project that meet every given condition. */
export const listDeployments = (
  database: Database,
  { project }: ProjectCall,
  filter: Omit<DeploymentFilter, 'projectId'>,
  order: DeploymentOrder,
  rows: Rows,
) => store.listDeployments(database, { ...filter, projectId: project.id }, order, rows)

interface EndedTimes {
  /** Undefined: a day ago. */
  finishedAfter: Date | undefined
  finishedBefore: Date | undefined
}

/**
 * Lists deployments that have ended and that the caller may read, with the findings in the tenants that the
 * caller's token can access.
 */
export function listEndedDeployments(
  database: Database,
  caller: Caller,
  { finishedAfter = new Date(systemClock().getTime() - dayMs), finishedBefore }: EndedTimes,
  rows: Rows,
): Promise<{ deployments: EndedDeployment[]; total: number }> {
  const filter = { finishedAfter, finishedBefore, tenants: boundTenantsOf(caller) }
  return store.listEndedDeployments(database, caller, filter, rows)
}

/** @throws DomainError not-found */
export async function getDeployment(
  database: Database,
  { project }: Pick<ProjectCall, 'project'>,
  id: number,
): Promise<DeploymentView> {
  const deployment = await store.findDeployment(database, project.id, id)
  if (!deployment) throw notFound()
  return deployment
}

interface AddDeploymentCommand {
  /** Name of the environment, which is created when it is missing. */
  environment: string
  sha: string
  ref: string
  /** true: `ref` is a tag; false: it is a branch. */
  tag: boolean
  status: DeploymentStatus
  sagaId: string | undefined
  sagaTenant: string | undefined
  /** Whether to refuse the deployment during a freeze. */
  enforce: boolean
  /** Names of the services that the deployment ships. Undefined: the default services of the project. */
  services: string[] | undefined
}

/**
 * Records a deployment. A request that repeats the last successful deployment of its environment returns that
 * deployment.
 *
 * @throws DomainError invalid, by field; forbidden during a freeze when the caller enforces freezes or the
 *   deployment would begin in a protected environment, and for a saga of a tenant that the caller's token
 *   cannot access
 */
export async function addDeployment(
  deps: DeploymentDependencies,
  access: ProjectCall<Caller>,
  command: AddDeploymentCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<DeploymentView> {
  const { project, repository, caller } = access
  const { database } = deps
  const { environment, ref, tag, status, enforce, services } = command
  const bound = boundTenantsOf(caller)
  const { commit, saga } = await readReferences(repository, {
    ...command,
    sagaTenant: command.sagaTenant ?? ownTenant(bound),
  })
  if (saga) requireTenant(bound, saga.tenant)
  const protection = await requireMayDeploy(database, access, { environment, status, deployment: null })
  const now = new Date()
  const freeze = await findFreeze(deps, project, { environment, sha: commit.id }, now)
  if (freeze && (enforce || (protection && begins(status)))) throw frozenError(freeze)
  // Later deployments are compared with this commit, even when no branch contains it any more.
  await keepCommit(repository, commit.id)
  const progress = beginDeployment(status, now)
  const given = {
    projectId: project.id,
    environment,
    ref,
    tag,
    sha: commit.id,
    saga,
    progress,
    frozen: freeze !== null,
    services: services ?? project.defaultServices,
    namesServices: services !== undefined && services.length > 0,
    userId: caller.user.id,
    job: caller.token.job ?? null,
  }
  const about = { project, commit, user: caller.user, baseUrl }
  const { deployment, isNew } = await recordDeployment(database, given, (added) =>
    deploymentHook(added, about),
  )
  if (isNew) announceDeployment(deps.messages, deployment)
  return deployment
}

/** Returns whether the deployment changes, or has changed, the environment. */
const begins = (status: DeploymentStatus) => status === 'running' || status === 'success'

/**
 * Checks the commit, the ref, the environment and the saga that a new deployment names.
 *
 * @throws DomainError invalid, with every problem by field
 */
async function readReferences(repository: Repository, command: AddDeploymentCommand) {
  const { saga, problems: sagaProblems } = readSagaReference(command)
  const [commit, target] = await Promise.all([
    findCommit(repository, command.sha),
    command.tag ? findTagTarget(repository, command.ref) : findBranchTip(repository, command.ref),
  ])
  const problems: FieldProblems = { ...sagaProblems }
  const nameProblem = environmentNameProblem(command.environment)
  if (nameProblem !== null) problems.environment = [nameProblem]
  if (!commit) problems.sha = ['The commit does not exist']
  if (target === null) problems.ref = ['The branch or tag does not exist']
  if (!commit || Object.keys(problems).length > 0) throw invalid(problems)
  return { commit, saga }
}

interface DeploymentStatusChange {
  id: number
  status: DeploymentStatus
  precondition: Precondition | undefined
}

/**
 * Changes the status of a deployment. In a protected environment, a waiting deployment begins only after its
 * approvals and outside of freezes.
 *
 * @throws DomainError not-found; forbidden; precondition-failed; invalid for a status that may not follow
 */
export async function changeDeployment(
  deps: DeploymentDependencies,
  access: ProjectCall<Caller>,
  change: DeploymentStatusChange,
  call: Pick<Call, 'baseUrl'>,
): Promise<DeploymentView> {
  const { status } = change
  const current = await getDeployment(deps.database, access, change.id)
  const planned = { environment: current.environment.name, status, deployment: current }
  const protection = await requireMayDeploy(deps.database, access, planned)
  if (protection && begins(status) && !begins(current.status as DeploymentStatus)) {
    const deployed = { environment: planned.environment, sha: current.sha }
    const freeze = await findFreeze(deps, access.project, deployed, new Date())
    if (freeze) throw frozenError(freeze)
  }
  const { id, precondition } = change
  const about = await aboutDeployment(access, current, call)
  const { deployment, isChanged } = await store.withLockedDeployment(
    deps.database,
    { projectId: access.project.id, id },
    (client, locked) => {
      precondition?.(locked.updatedAt)
      return changeLockedDeployment(
        client,
        locked,
        (progress) => moveDeployment(progress, status, new Date()),
        (changed) => deploymentHook(changed, about),
      )
    },
  )
  if (isChanged) announceDeployment(deps.messages, deployment)
  return deployment
}

/**
 * Deletes a deployment.
 *
 * @throws DomainError not-found; precondition-failed; invalid for a running deployment, and for the current
 *   one of its environment
 */
export const deleteDeployment = (
  database: Pooled,
  projectId: number,
  id: number,
  precondition: Precondition | undefined,
): Promise<void> =>
  store.withLockedDeployment(database, { projectId, id }, async (client, locked) => {
    const { status, environmentId, updatedAt } = locked
    precondition?.(updatedAt)
    if (status === 'running') throw invalid('Cannot destroy running deployment')
    const last = await store.findLastSuccess(client, projectId, environmentId)
    if (last?.id === id) throw invalid('Deployment currently deployed to environment')
    await store.removeDeployment(client, locked)
  })

/** Returns the data that webhooks show beside a deployment. */
export const aboutDeployment = async (
  { project, repository, caller }: ProjectCall<Caller>,
  { sha }: Pick<DeploymentView, 'sha'>,
  { baseUrl }: Pick<Call, 'baseUrl'>,
) => ({ project, commit: await findCommit(repository, sha), user: caller.user, baseUrl })

export const announceDeployment = (
  messages: OutgoingMessages,
  { projectId, id, sha, status, environment }: DeploymentView,
): void =>
  messages.announce({
    event: 'deployment',
    project_id: projectId,
    id,
    sha,
    environment: environment.name,
    status,
  })

/**
 * Lists the commits that are new in a deployment, newest first: the history of its commit without the history
 * of the last successful deployment before it. Without such a deployment, the whole history is new.
 *
 * @throws DomainError not-found
 */
export async function listDeployedCommits(
  database: Database,
  access: ProjectCall,
  id: number,
  rows: Rows,
): Promise<{ commits: Commit[]; total: number | null }> {
  const { repository } = access
  const deployment = await getDeployment(database, access, id)
  const commit = await getCommit(repository, deployment.sha)
  const before = await store.findDeploymentBefore(database, deployment)
  const from = before && (await findCommitId(repository, before.sha))
  if (!from) return listCommits(repository, { revision: commit, ...rows })
  const { ids, total } = await commitsBetween(repository, { from, to: commit.id, ...rows })
  const commits = await Promise.all(ids.reverse().map((each) => findCommit(repository, each)))
  return { commits: commits.filter((each) => each !== null), total }
}
