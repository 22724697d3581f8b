import { inTransaction } from '@switchyard/db'
import { forbidden, invalid } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { mayApprove } from '@switchyard/domain/deployment'
import type { Call } from '@switchyard/service-kit/http'
import { applyStatus, type DeploymentDependencies, getDeployment } from '../deployments/deployments.js'
import { lockDeployment } from '../deployments/store.js'
import type { ProjectCall } from '../guards.js'
import { actorOf, describeApprovals } from './protected-environments.js'
import { type ApprovalWithUser, saveApproval } from './store.js'

interface ApprovalCommand {
  deploymentId: number
  status: 'approved' | 'rejected'
  comment: string | null
}

/**
 * Says whether a deployment may begin. The last word of a user counts. A rejected deployment has failed.
 *
 * @throws DomainError not-found; forbidden for who may not approve; invalid for a deployment that waits for nothing, and for
 *   approving one's own
 */
export async function approveDeployment(
  deps: DeploymentDependencies,
  access: ProjectCall<Caller>,
  { deploymentId: id, status, comment }: ApprovalCommand,
  call: Pick<Call, 'baseUrl'>,
): Promise<ApprovalWithUser> {
  const { database } = deps
  const { project, caller } = access
  if (project.archived) throw forbidden('The project is archived')
  const deployment = await getDeployment(database, access, id)
  const described = await describeApprovals(database, deployment)
  if (!described) throw invalid('The environment of this deployment is not protected')
  const actor = actorOf(access)
  if (!mayApprove(described.protection, actor)) throw forbidden('You may not approve this deployment')
  requireWaiting(deployment)
  if (status === 'approved' && deployment.userId === caller.user.id) {
    throw invalid('You cannot approve your own deployment')
  }
  const said = { status, comment, accessLevel: actor.accessLevel }
  const key = { projectId: project.id, deploymentId: id, userId: caller.user.id }
  if (status === 'rejected') {
    await applyStatus(deps, access, { id, status: 'failed', requireCurrent: requireWaiting }, call)
  }
  return inTransaction(database, async (transaction) => {
    const locked = await lockDeployment(transaction, project.id, id)
    if (status === 'approved') requireWaiting(locked)
    return saveApproval(transaction, { ...key, ...said })
  })
}

/** @throws DomainError invalid */
function requireWaiting({ status }: { status: string }): void {
  if (status !== 'created' && status !== 'blocked') {
    throw invalid('This deployment is not waiting for approvals')
  }
}
