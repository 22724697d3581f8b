import type { PoolClient, Pooled } from '@switchyard/db'
import { leaseEnd, leaseRows } from '@switchyard/db/sql'

interface DeploymentKey {
  projectId: number
  id: number
}

/** Enqueues the measurement of a successful deployment. */
export async function enqueueMeasurement(
  client: Pick<PoolClient, 'query'>,
  { projectId, id }: DeploymentKey,
): Promise<void> {
  await client.query({
    name: 'enqueue-measurement',
    text: 'INSERT INTO deployment_changes (project_id, deployment_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [projectId, id],
  })
}

/** Enqueues the successful deployments that an earlier release did not enqueue. */
export async function enqueueMissingMeasurements({ pool }: Pooled): Promise<void> {
  await pool.query(
    `INSERT INTO deployment_changes (project_id, deployment_id)
     SELECT d.project_id, d.id FROM deployments d WHERE d.status = 'success' AND NOT EXISTS (
       SELECT FROM deployment_changes c WHERE c.project_id = d.project_id AND c.deployment_id = d.id)
     ON CONFLICT DO NOTHING`,
  )
}

/** A successful deployment that waits to be measured. */
export interface WaitingDeployment extends DeploymentKey {
  environmentId: number
  sha: string
  finishedAt: Date
  /** Path of the repository below the storage root. */
  diskPath: string
}

const claim = {
  name: 'claim-waiting-deployments',
  text: leaseRows({
    table: 'deployment_changes',
    keys: ['project_id', 'deployment_id'],
    free: 'leased.look_at <= now() AND leased.project_id IN (SELECT id FROM projects WHERE storage = $3)',
    order: 'leased.look_at',
    set: `look_at = ${leaseEnd('$2')}`,
    select: `SELECT d.project_id AS "projectId", d.id, d.environment_id AS "environmentId", d.sha,
        d.finished_at AS "finishedAt", p.disk_path AS "diskPath"
      FROM leased JOIN deployments d ON d.project_id = leased.project_id AND d.id = leased.deployment_id
        JOIN projects p ON p.id = leased.project_id`,
  }),
}

/**
 * Claims deployments of projects in a storage, those that have waited longest first. An unfinished claim ends
 * after `againInMs`.
 */
export async function claimWaiting(
  { pool }: Pooled,
  { storage, rowsMax, againInMs }: { storage: string; rowsMax: number; againInMs: number },
): Promise<WaitingDeployment[]> {
  const { rows } = await pool.query<WaitingDeployment>({ ...claim, values: [rowsMax, againInMs, storage] })
  return rows
}

/** Lists the successful deployments to the same environment that ended before this one, newest first. */
export async function listDeploymentsBefore(
  { pool }: Pooled,
  { projectId, environmentId, id, finishedAt }: Omit<WaitingDeployment, 'sha' | 'diskPath'>,
  rowsMax: number,
): Promise<{ id: number; sha: string }[]> {
  const { rows } = await pool.query<{ id: number; sha: string }>({
    name: 'deployments-before',
    text: `SELECT id, sha FROM deployments
      WHERE project_id = $1 AND environment_id = $2 AND status = 'success' AND (finished_at, id) < ($3, $4)
      ORDER BY finished_at DESC, id DESC LIMIT $5`,
    values: [projectId, environmentId, finishedAt, id, rowsMax],
  })
  return rows
}

/** The changes that a deployment ships to its environment. */
export interface DeploymentChange {
  commits: number
  /** Lead times of the commits, ascending; for many commits, an evenly spaced sample. */
  leadSeconds: number[]
  /** The deployment that this one rolls back; null: none. */
  rollsBackId: number | null
}

export async function recordChange(
  { pool }: Pooled,
  { projectId, id }: DeploymentKey,
  { commits, leadSeconds, rollsBackId }: DeploymentChange,
): Promise<void> {
  await pool.query({
    name: 'record-deployment-change',
    text: `UPDATE deployment_changes SET look_at = NULL, commits = $3, lead_seconds = $4, rolls_back_id = $5
      WHERE project_id = $1 AND deployment_id = $2`,
    values: [projectId, id, commits, leadSeconds, rollsBackId],
  })
}
