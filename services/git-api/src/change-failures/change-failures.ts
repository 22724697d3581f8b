import { type AuditAuthor, type Database, inTransaction } from '@switchyard/db'
import { invalid, notFound } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { recordProjectEvent } from '../audit/audit.js'
import { findJudgement } from '../delivery-metrics/store.js'
import { getDeployment } from '../deployments/deployments.js'
import { lockDeployment } from '../deployments/store.js'
import type { ProjectCall } from '../guards.js'
import * as store from './store.js'

/** Why a deployment counts as a failure: a finding that nobody dismissed, a later deployment that took it back, or what somebody said. */
export const failureReasons = ['finding', 'rolled_back', 'reported'] as const
export type FailureReason = (typeof failureReasons)[number]

export interface ChangeFailure {
  reasons: FailureReason[]
  /** Null: it is no failure. */
  failedAt: Date | null
  /** Null: it is no failure, or lasts. */
  restoredAt: Date | null
  report: store.FailureReport | null
}

/** @throws DomainError not-found */
export async function getChangeFailure(
  database: Database,
  access: ProjectCall<Caller>,
  deploymentId: number,
): Promise<ChangeFailure> {
  const { projectId, id } = await getDeployment(database, access, deploymentId)
  const [judgement, report] = await Promise.all([
    findJudgement(database, { projectId, id }, boundTenantsOf(access.caller)),
    store.findReport(database, { projectId, deploymentId }),
  ])
  const isReason: Record<FailureReason, boolean> = {
    finding: judgement?.hasFinding ?? false,
    rolled_back: judgement?.isRolledBack ?? false,
    reported: report !== null,
  }
  const reasons = failureReasons.filter((reason) => isReason[reason])
  const isFailure = judgement !== null && reasons.length > 0
  return {
    reasons,
    failedAt: isFailure ? judgement.failedAt : null,
    restoredAt: isFailure ? judgement.restoredAt : null,
    report,
  }
}

/**
 * Records that a deployment was a failure. A later report replaces an earlier one; the audit log keeps both.
 *
 * @throws DomainError not-found; invalid for a deployment that ended with neither success nor failure
 */
export const reportFailure = (
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  { deploymentId, reason }: { deploymentId: number; reason: string },
  author: AuditAuthor,
): Promise<store.FailureReport> =>
  inTransaction(database, async (transaction) => {
    const { status } = await lockDeployment(transaction, project.id, deploymentId)
    if (!['success', 'failed'].includes(status))
      throw invalid(`A deployment that is ${status} cannot be a failed change`)
    const key = { projectId: project.id, deploymentId }
    const report = await store.saveReport(transaction, key, { reason, userId: caller.user.id })
    const details = { deployment_id: deploymentId, reason }
    await recordProjectEvent(transaction, author, project.id, 'change_failure_reported', details)
    return report
  })

/** @throws DomainError not-found */
export const withdrawReport = (
  database: Database,
  { project }: ProjectCall<Caller>,
  deploymentId: number,
  author: AuditAuthor,
): Promise<void> =>
  inTransaction(database, async (transaction) => {
    const key = { projectId: project.id, deploymentId }
    if (!(await store.deleteReport(transaction, key))) throw notFound()
    const details = { deployment_id: deploymentId }
    await recordProjectEvent(transaction, author, project.id, 'change_failure_withdrawn', details)
  })
