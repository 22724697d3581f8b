import type { DatabaseOrTransaction, DeploymentFailure } from '@switchyard/db'
import type { DeploymentUser } from '../deployments/store.js'

type DeploymentKey = Pick<DeploymentFailure, 'projectId' | 'deploymentId'>

/** What somebody says who calls a deployment a failure; the user is null when the account is gone. */
export type FailureReport = DeploymentFailure & { user: DeploymentUser | null }

export const findReport = (
  { prisma }: DatabaseOrTransaction,
  key: DeploymentKey,
): Promise<FailureReport | null> =>
  prisma.deploymentFailure.findUnique({ where: { projectId_deploymentId: key }, include: { user: true } })

export const saveReport = (
  { prisma }: DatabaseOrTransaction,
  key: DeploymentKey,
  said: Pick<DeploymentFailure, 'reason' | 'userId'>,
): Promise<FailureReport> =>
  prisma.deploymentFailure.upsert({
    where: { projectId_deploymentId: key },
    create: { ...key, ...said },
    update: { ...said, createdAt: new Date() },
    include: { user: true },
  })

/** @returns whether there was one */
export async function deleteReport({ prisma }: DatabaseOrTransaction, key: DeploymentKey): Promise<boolean> {
  const { count } = await prisma.deploymentFailure.deleteMany({ where: key })
  return count > 0
}
