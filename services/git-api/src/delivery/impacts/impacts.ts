import { type Database, type DeploymentFinding, endRuns, type Rows, recordAuditEvent } from '@switchyard/db'
import { changePointMsMax, type ServiceMetrics, type ServiceQueues } from '@switchyard/delivery-impact'
import { conflict } from '@switchyard/domain'
import { boundTenantsOf, type Caller, requireTenant } from '@switchyard/domain/access'
import type { ProjectCall } from '../../guards.js'
import { statementsOf } from '../deployment-statements/deployment-statements.js'
import { getDeployment } from '../deployments/deployments.js'
import type { DeploymentView } from '../deployments/store.js'
import { listRunsAbout } from '../impact-rules/impact-rules.js'
import type { RunView } from '../impact-rules/store.js'
import type { FindingFilter, FindingView, StoredImpact } from './store.js'
import * as store from './store.js'

/**
 * `pending`: the window after the deployment is not over, and nothing was found so far; `not_compared`: the
 * deployment names no services or did not end, or its environment has a tier that is not compared.
 */
export const impactStates = ['pending', 'none', 'found', 'dismissed', 'not_compared'] as const
export type ImpactState = (typeof impactStates)[number]

export interface ImpactView {
  state: ImpactState
  stored: StoredImpact
  services: ServiceMetrics[]
  /** Null: queues were not compared. */
  queues: ServiceQueues[] | null
  findings: DeploymentFinding[]
  /** Deployments of the same services at about the same time. */
  concurrent: DeploymentView[]
  concurrentElsewhere: number
  /** Runs of the project's rules for the deployment. */
  ruleRuns: RunView[]
}

/**
 * Time limit for the first comparison. A deployment without one after this time gets none, because its tier
 * is not compared or no worker runs.
 */
const firstLookMsMax = 15 * 60_000
/**
 * Two deployments closer than this are concurrent: a failure that begins after one may also be caused by the
 * other.
 */
const sharedMs = changePointMsMax + 2 * 60_000

/**
 * Returns the impact of a deployment in the tenants that the caller's token can access. Queues belong to no
 * tenant, so a caller whose token is bound to tenants sees none.
 *
 * @throws DomainError not-found
 */
export async function getImpact(
  database: Database,
  access: ProjectCall<Caller>,
  id: number,
  now: Date,
): Promise<ImpactView> {
  const deployment = await getDeployment(database, access, id)
  const stored = await store.readImpact(database, access.project.id, id)
  const bound = boundTenantsOf(access.caller)
  const isAllowed = ({ tenant }: { tenant: string }) => bound === null || bound.includes(tenant)
  const services = ((stored.impact?.services ?? []) as ServiceMetrics[]).filter(isAllowed)
  const findings = stored.findings.filter(isAllowed)
  const known = (stored.impact?.queues ?? null) as ServiceQueues[] | null
  const queues = bound === null ? known : known && []
  const shared = await listSharers(database, deployment)
  const concurrent = await store.listDeploymentsById(database, access.project.id, shared.ids)
  const state = stateOf(deployment, { ...stored, findings }, now)
  const ruleRuns = await listRunsAbout(database, access, id)
  const concurrentElsewhere = shared.elsewhere
  return { state, stored, services, queues, findings, concurrent, concurrentElsewhere, ruleRuns }
}

function stateOf(
  { services, finishedAt, status }: DeploymentView,
  { impact, findings, dismissal }: StoredImpact,
  now: Date,
): ImpactState {
  if (findings.length > 0) return dismissal ? 'dismissed' : 'found'
  if (impact) return impact.nextLookAt === null ? 'none' : 'pending'
  const mayBe = (services as string[]).length > 0 && status !== 'canceled'
  const waitsInVain = finishedAt !== null && now.getTime() - finishedAt.getTime() > firstLookMsMax
  return mayBe && !waitsInVain ? 'pending' : 'not_compared'
}

async function listSharers(database: Database, deployment: DeploymentView) {
  const { createdAt, finishedAt } = deployment
  if (finishedAt === null) return { ids: [], elsewhere: 0 }
  const beganBefore = new Date(finishedAt.getTime() + sharedMs)
  const endedAfter = new Date(createdAt.getTime() - sharedMs)
  return store.listSharers(database, { deployment, beganBefore, endedAfter })
}

/**
 * Dismissals: statements that a deployment is not the cause of its findings. A dismissal prevents rules from
 * acting, so it is possible only for a deployment with findings.
 */
export const dismissals = statementsOf({
  events: { added: 'deployment_impact_dismissed', removed: 'deployment_impact_restored' },
  check: async (transaction, { projectId, id: deploymentId }) => {
    if (!(await store.hasFindings(transaction, { projectId, deploymentId })))
      throw conflict('There is nothing to dismiss: nothing was found about the deployment')
  },
  save: store.saveDismissal,
  remove: async (transaction, key, author) => {
    // Without the dismissal, freezes and banners that it has ended would be in force again until the worker
    // stores their end.
    await recordAuditEvent(transaction, author, ...(await endRuns(transaction, key)))
    return store.deleteDismissal(transaction, key)
  },
})

/**
 * Lists the findings of a tenant, and the findings about queues for a caller whose token is bound to no
 * tenant.
 *
 * @throws DomainError forbidden for a tenant that the caller's token cannot access
 */
export async function listFindings(
  database: Database,
  caller: Caller,
  { tenant, ...filter }: Omit<FindingFilter, 'tenants'> & { tenant: string },
  rows: Rows,
): Promise<{ findings: FindingView[]; total: number }> {
  const bound = boundTenantsOf(caller)
  requireTenant(bound, tenant)
  const tenants = bound === null ? [tenant, ofQueues] : [tenant]
  return store.listFindings(database, caller, { ...filter, tenants }, rows)
}

/** The tenant in a finding about queues. */
const ofQueues = ''
