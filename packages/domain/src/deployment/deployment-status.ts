import { invalid } from '../errors.js'

/** The statuses that callers can give a deployment. */
export const deploymentStatuses = ['created', 'blocked', 'running', 'success', 'failed', 'canceled'] as const
export type DeploymentStatus = (typeof deploymentStatuses)[number]

/** The statuses that may follow each status. A finished deployment has no next status. */
const followers: Record<DeploymentStatus, readonly DeploymentStatus[]> = {
  created: ['running', 'blocked', 'success', 'failed', 'canceled'],
  blocked: ['running', 'failed', 'canceled'],
  running: ['success', 'failed', 'canceled'],
  success: [],
  failed: [],
  canceled: [],
}

/** Returns whether a deployment with this status is finished. */
const isFinished = (status: DeploymentStatus): boolean => followers[status].length === 0

/** The part of a deployment that a new status changes. */
export interface DeploymentProgress {
  status: DeploymentStatus
  updatedAt: Date
  /** Null until the deployment is finished. */
  finishedAt: Date | null
}

export const beginDeployment = (status: DeploymentStatus, now: Date): DeploymentProgress => ({
  status,
  updatedAt: now,
  finishedAt: isFinished(status) ? now : null,
})

/**
 * Returns the progress of a deployment after its next status.
 *
 * @returns `current` itself when it has the status already
 * @throws DomainError invalid for a status that may not follow
 */
export function moveDeployment(
  current: DeploymentProgress,
  status: DeploymentStatus,
  now: Date,
): DeploymentProgress {
  if (status === current.status) return current
  if (!followers[current.status].includes(status)) {
    throw invalid({ status: [`cannot change from ${current.status} to ${status}`] })
  }
  return beginDeployment(status, now)
}
