import type { DatabaseOrTransaction, DeploymentFailure, Pooled } from '@switchyard/db'
import type { DeploymentUser } from '../deployments/store.js'

type DeploymentKey = Pick<DeploymentFailure, 'projectId' | 'deploymentId'>

/**
 * The report of a person that a deployment is a failure; the user is null when the account no longer exists.
 */
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

/** @returns whether there was a report */
export async function deleteReport({ prisma }: DatabaseOrTransaction, key: DeploymentKey): Promise<boolean> {
  const { count } = await prisma.deploymentFailure.deleteMany({ where: key })
  return count > 0
}

/**
 * Returns a query for ended deployments with the reasons why they count as failures: `began_at` is when the
 * first finding that nobody dismissed began, `recovered_at` when the figures of all findings were back.
 *
 * @param from, where select the deployments
 * @param tenants the parameter with the tenants whose findings count
 */
export const withReasons = (from: string, where: string, tenants: string) => `
  SELECT d.project_id, d.environment_id, d.status, d.finished_at, found.began_at, found.recovered_at,
    EXISTS (SELECT FROM deployment_failures s
      WHERE s.project_id = d.project_id AND s.deployment_id = d.id) AS is_reported,
    EXISTS (SELECT FROM deployment_changes c
      WHERE c.project_id = d.project_id AND c.rolls_back_id = d.id AND c.rolls_back_id IS NOT NULL) AS is_rolled_back
  FROM ${from} CROSS JOIN LATERAL (
    SELECT min(f.onset_at) AS began_at,
      CASE WHEN bool_and(f.recovered_at IS NOT NULL) THEN max(f.recovered_at) END AS recovered_at
    FROM deployment_findings f
    WHERE f.project_id = d.project_id AND f.deployment_id = d.id
      AND (${tenants}::text[] IS NULL OR f.tenant = ANY (${tenants}))
      AND NOT EXISTS (SELECT FROM deployment_dismissals x
        WHERE x.project_id = d.project_id AND x.deployment_id = d.id)) found
  WHERE d.status IN ('success', 'failed') AND ${where}`

/** The condition that a row of {@link withReasons} is a failure. */
export const isFailure = '(began_at IS NOT NULL OR is_reported OR is_rolled_back)'

/**
 * Adds to {@link withReasons} when failures began and when they ended: when the figures were back, or with
 * the next successful deployment to the same environment.
 */
export const withFailureTimes = (ended: string) => `
  SELECT ended.*, COALESCE(ended.began_at, ended.finished_at) AS failed_at,
    LEAST(ended.recovered_at, later.finished_at) AS restored_at
  FROM (${ended}) ended LEFT JOIN LATERAL (
    SELECT n.finished_at FROM deployments n
    WHERE n.project_id = ended.project_id AND n.environment_id = ended.environment_id AND n.status = 'success'
      AND n.finished_at > GREATEST(ended.began_at, ended.finished_at)
    ORDER BY n.finished_at LIMIT 1) later ON true`

/** The reasons why a deployment counts as a failure, and when the failure began and ended. */
export interface FailureFacts {
  hasFinding: boolean
  isRolledBack: boolean
  failedAt: Date
  /** Null: the failure continues. */
  restoredAt: Date | null
}

/** @returns null for a deployment that has not ended */
export async function findFailureFacts(
  { pool }: Pooled,
  { projectId, id }: { projectId: number; id: number },
  tenants: readonly string[] | null,
): Promise<FailureFacts | null> {
  const { rows } = await pool.query<FailureFacts>({
    name: 'change-failure-facts',
    text: `SELECT began_at IS NOT NULL AS "hasFinding", is_rolled_back AS "isRolledBack", failed_at AS "failedAt",
        restored_at AS "restoredAt"
      FROM (${withFailureTimes(withReasons('deployments d', 'd.project_id = $1 AND d.id = $2', '$3'))}) failure`,
    values: [projectId, id, tenants],
  })
  return rows[0] ?? null
}
