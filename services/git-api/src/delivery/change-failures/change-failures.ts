import type { Database } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import type { ProjectCall } from '../../guards.js'
import { statementsOf } from '../deployment-statements/deployment-statements.js'
import { getDeployment } from '../deployments/deployments.js'
import type { FailureReport } from './store.js'
import * as store from './store.js'

/**
 * The reasons why a deployment counts as a failure: a finding that nobody dismissed, a later deployment that
 * rolled it back, or the report of a person.
 */
export const failureReasons = ['finding', 'rolled_back', 'reported'] as const
export type FailureReason = (typeof failureReasons)[number]

export interface ChangeFailure {
  reasons: FailureReason[]
  /** Null: the deployment is not a failure. */
  failedAt: Date | null
  /** Null: the deployment is not a failure, or the failure continues. */
  restoredAt: Date | null
  report: FailureReport | null
}

/** @throws DomainError not-found */
export async function getChangeFailure(
  database: Database,
  access: ProjectCall<Caller>,
  deploymentId: number,
): Promise<ChangeFailure> {
  const { projectId, id } = await getDeployment(database, access, deploymentId)
  const [facts, report] = await Promise.all([
    store.findFailureFacts(database, { projectId, id }, boundTenantsOf(access.caller)),
    store.findReport(database, { projectId, deploymentId }),
  ])
  const isReason: Record<FailureReason, boolean> = {
    finding: facts?.hasFinding ?? false,
    rolled_back: facts?.isRolledBack ?? false,
    reported: report !== null,
  }
  const reasons = failureReasons.filter((reason) => isReason[reason])
  const isFailure = facts !== null && reasons.length > 0
  return {
    reasons,
    failedAt: isFailure ? facts.failedAt : null,
    restoredAt: isFailure ? facts.restoredAt : null,
    report,
  }
}

/**
 * Reports of failures: statements that a deployment was a failed change. They are possible for deployments
 * that ended with success or failure.
 */
export const failureReports = statementsOf({
  events: { added: 'change_failure_reported', removed: 'change_failure_withdrawn' },
  check: async (_transaction, { status }) => {
    if (!['success', 'failed'].includes(status))
      throw invalid(`A deployment that is ${status} cannot be a failed change`)
  },
  save: store.saveReport,
  remove: store.deleteReport,
})
