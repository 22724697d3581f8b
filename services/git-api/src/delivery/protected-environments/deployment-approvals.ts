import type { Deployment } from '@switchyard/db'
import { forbidden, invalid } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { countPendingApprovals, mayApprove, moveDeployment } from '@switchyard/domain/deployment'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { deploymentHook } from '../../shapes/hooks.js'
import {
  aboutDeployment,
  announceDeployment,
  changeLockedDeployment,
  type DeploymentDependencies,
  enqueueDeployment,
  getDeployment,
} from '../deployments/deployments.js'
import { withLockedDeployment } from '../deployments/store.js'
import { actorOf, describeApprovals } from './protected-environments.js'
import { type ApprovalWithUser, listDecisions, listMakers, saveApproval } from './store.js'

interface ApprovalCommand {
  deploymentId: number
  status: 'approved' | 'rejected'
  comment: string | null
}

/**
 * Approves or rejects a waiting deployment. The last decision of each user counts. A rejected deployment has
 * failed. Webhooks receive a rejection, and the approval that completes the required number.
 *
 * @throws DomainError not-found; forbidden for a caller who may not approve; invalid for a deployment that
 *   does not wait, and for approving one's own
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
  const { protection } = described
  const actor = actorOf(access)
  if (!mayApprove(protection, actor)) throw forbidden('You may not approve this deployment')
  requireWaiting(deployment)
  if (status === 'approved' && (await isOwn(deps, deployment, caller))) {
    throw invalid('You cannot approve your own deployment')
  }
  const about = { ...(await aboutDeployment(access, deployment, call)), approval: status }
  const key = { projectId: project.id, id }
  const given = { projectId: project.id, deploymentId: id, userId: caller.user.id }
  const { saved, failed } = await withLockedDeployment(database, key, async (client, locked) => {
    requireWaiting(locked)
    const countPending = async () => countPendingApprovals(protection, await listDecisions(client, key))
    const pending = await countPending()
    const decision = { ...given, status, comment, accessLevel: actor.accessLevel }
    const saved = { ...(await saveApproval(client, decision)), user: caller.user }
    if (status === 'rejected') {
      const changed = await changeLockedDeployment(
        client,
        locked,
        (progress) => moveDeployment(progress, 'failed', new Date()),
        (view) => deploymentHook(view, about),
      )
      return { saved, failed: changed.deployment }
    }
    if (pending > 0 && (await countPending()) === 0) {
      await enqueueDeployment(client, locked, (view) => deploymentHook(view, about))
    }
    return { saved, failed: null }
  })
  if (failed) announceDeployment(deps.messages, failed)
  return saved
}

/**
 * Returns whether the deployment is the caller's own. The bot of a project token or a CI job acts for the
 * user who created the token or the rule, so it cannot approve deployments of that user or of that user's
 * other bots.
 */
async function isOwn(
  { database }: DeploymentDependencies,
  { userId: deployer }: Pick<Deployment, 'userId'>,
  { user }: Caller,
): Promise<boolean> {
  if (deployer === null || deployer === user.id) return deployer !== null
  const makers = await listMakers(database, user.id)
  if (makers.length === 0) return false
  const deployers = [deployer, ...(await listMakers(database, deployer))]
  return makers.some((maker) => deployers.includes(maker))
}

/** @throws DomainError invalid */
function requireWaiting({ status }: { status: string }): void {
  if (status !== 'created' && status !== 'blocked') {
    throw invalid('This deployment is not waiting for approvals')
  }
}
