import { administratorLevel } from '../access/protection-levels.js'

/**
 * The holder of a permission on a protected environment: everybody with an access level, or a single user.
 * Either the level or the user is null.
 */
export interface EnvironmentParty {
  /** Number within the protection. */
  id: number
  /** {@link administratorLevel}: administrators only. */
  accessLevel: number | null
  userId: number | null
}

/** A rule that names who has to approve a deployment, and how many approvals it needs. */
export interface ApprovalRule extends EnvironmentParty {
  requiredApprovals: number
}

export interface EnvironmentProtection {
  deployers: EnvironmentParty[]
  /** Number of approvals by users who may deploy. It applies when there is no rule. */
  requiredApprovalCount: number
  approvalRules: ApprovalRule[]
}

/** A user who deploys or approves. */
export interface EnvironmentActor {
  /** Null: the account was deleted. */
  userId: number | null
  /** Access level in the project; {@link administratorLevel} for administrators. */
  accessLevel: number
}

export interface GivenApproval extends EnvironmentActor {
  status: string
}

const isParty = ({ accessLevel, userId }: EnvironmentParty, actor: EnvironmentActor): boolean =>
  (accessLevel !== null && actor.accessLevel >= accessLevel) || (userId !== null && actor.userId === userId)

/**
 * Returns whether the actor may deploy. Administrators always may, because they could lift the protection.
 */
export const mayDeployTo = ({ deployers }: EnvironmentProtection, actor: EnvironmentActor): boolean =>
  actor.accessLevel >= administratorLevel || deployers.some((party) => isParty(party, actor))

/** Returns whether an approval of this actor counts. */
export const mayApprove = (protection: EnvironmentProtection, actor: EnvironmentActor): boolean =>
  protection.approvalRules.length > 0
    ? protection.approvalRules.some((rule) => isParty(rule, actor))
    : mayDeployTo(protection, actor)

/**
 * Returns the number of approvals that a deployment still needs. Only approvals of users who may approve now
 * count. One approval counts for every rule that its user fulfils.
 */
export function countPendingApprovals(
  protection: EnvironmentProtection,
  approvals: readonly GivenApproval[],
): number {
  const approved = approvals.filter(
    (approval) => approval.status === 'approved' && mayApprove(protection, approval),
  )
  const { approvalRules, requiredApprovalCount } = protection
  if (approvalRules.length === 0) return Math.max(0, requiredApprovalCount - approved.length)
  const missing = approvalRules.map((rule) =>
    Math.max(0, rule.requiredApprovals - approved.filter((approval) => isParty(rule, approval)).length),
  )
  return missing.reduce((sum, count) => sum + count, 0)
}

/** Statuses that a deployment may have before it is approved. */
export const unapprovedStatuses: readonly string[] = ['created', 'blocked', 'failed', 'canceled']
