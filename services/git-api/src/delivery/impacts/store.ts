import type {
  DatabaseOrTransaction,
  DeploymentDismissal,
  DeploymentFinding,
  DeploymentImpact,
  Pooled,
  Prisma,
  Rows,
} from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import type { DeploymentInProject, DeploymentUser, DeploymentView } from '../deployments/store.js'
import { projectsWithReadableDeployments } from '../environments/store.js'

export type DismissalView = DeploymentDismissal & { user: DeploymentUser | null }

export interface StoredImpact {
  impact: DeploymentImpact | null
  findings: DeploymentFinding[]
  dismissal: DismissalView | null
}

/** Reads the findings of the worker about a deployment, and the statements of people about it. */
export async function readImpact(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  deploymentId: number,
): Promise<StoredImpact> {
  const key = { projectId, deploymentId }
  const where = { projectId_deploymentId: key }
  const [impact, findings, dismissal] = await Promise.all([
    prisma.deploymentImpact.findUnique({ where }),
    prisma.deploymentFinding.findMany({ where: key, orderBy: [{ changePointAt: 'asc' }, { id: 'asc' }] }),
    prisma.deploymentDismissal.findUnique({ where, include: { user: true } }),
  ])
  return { impact, findings, dismissal }
}

/** Most concurrent deployments of one project that are listed. */
const sharersMax = 20

interface SharedQuestion {
  deployment: DeploymentView
  /** Deployments that began before this time and ended after `endedAfter` are concurrent. */
  beganBefore: Date
  endedAfter: Date
}

/**
 * Lists the concurrent deployments of the same services: the ids of those in the project, and the number of
 * those in other projects.
 */
export async function listSharers(
  { pool }: Pooled,
  { deployment, beganBefore, endedAfter }: SharedQuestion,
): Promise<{ ids: number[]; elsewhere: number }> {
  const { projectId, id, services } = deployment
  const { rows } = await pool.query<{ ids: number[]; elsewhere: number }>({
    name: 'deployments-that-share',
    text: `SELECT COALESCE((array_agg(d.id ORDER BY d.id) FILTER (WHERE d.project_id = $1))[1:${sharersMax}], '{}') AS ids,
        count(*) FILTER (WHERE d.project_id <> $1)::int AS elsewhere
      FROM deployments d
      WHERE d.services <> '[]' AND d.services ?| $3 AND d.finished_at >= $4 AND d.created_at <= $5
        AND d.status IN ('success', 'failed') AND NOT (d.project_id = $1 AND d.id = $2)`,
    values: [projectId, id, services, endedAfter, beganBefore],
  })
  return rows[0] ?? { ids: [], elsewhere: 0 }
}

export const listDeploymentsById = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  ids: number[],
): Promise<DeploymentView[]> =>
  prisma.deployment.findMany({
    where: { projectId, id: { in: ids } },
    include: { environment: true, user: true },
    orderBy: { id: 'asc' },
  })

/** Returns whether a deployment has findings so far. */
export const hasFindings = async (
  { prisma }: DatabaseOrTransaction,
  key: Pick<DeploymentFinding, 'projectId' | 'deploymentId'>,
): Promise<boolean> =>
  (await prisma.deploymentFinding.findFirst({ where: key, select: { id: true } })) !== null

export const saveDismissal = (
  { prisma }: DatabaseOrTransaction,
  key: Pick<DeploymentDismissal, 'projectId' | 'deploymentId'>,
  said: Pick<DeploymentDismissal, 'reason' | 'userId'>,
): Promise<DismissalView> =>
  prisma.deploymentDismissal.upsert({
    where: { projectId_deploymentId: key },
    create: { ...key, ...said },
    update: { ...said, createdAt: new Date() },
    include: { user: true },
  })

/** @returns whether there was a dismissal */
export async function deleteDismissal(
  { prisma }: DatabaseOrTransaction,
  key: Pick<DeploymentDismissal, 'projectId' | 'deploymentId'>,
): Promise<boolean> {
  const { count } = await prisma.deploymentDismissal.deleteMany({ where: key })
  return count > 0
}

export interface FindingFilter {
  /** Unset: every tenant, and queues, which belong to no tenant. */
  tenants?: string[] | undefined
  serviceName?: string | undefined
  fingerprint?: string | undefined
  beganAfter?: Date | undefined
  beganBefore?: Date | undefined
}

export type FindingView = DeploymentFinding & {
  deployment: DeploymentInProject & { dismissal: DeploymentDismissal | null }
}

/** Returns one page of the findings of deployments that the caller may read, newest first. */
export async function listFindings(
  { prisma }: DatabaseOrTransaction,
  caller: Caller,
  { tenants, serviceName, fingerprint, beganAfter, beganBefore }: FindingFilter,
  rows: Rows,
): Promise<{ findings: FindingView[]; total: number }> {
  const where = {
    tenant: tenants && { in: tenants },
    serviceName,
    fingerprint,
    changePointAt: { gte: beganAfter, lte: beganBefore },
    deployment: { project: projectsWithReadableDeployments(caller) },
  } satisfies Prisma.DeploymentFindingWhereInput
  const deployment = { include: { environment: true, user: true, project: true, dismissal: true } }
  const orderBy = [{ changePointAt: 'desc' as const }, { projectId: 'asc' as const }, { id: 'asc' as const }]
  const [findings, total] = await Promise.all([
    prisma.deploymentFinding.findMany({ where, include: { deployment }, orderBy, ...rows }),
    prisma.deploymentFinding.count({ where }),
  ])
  return { findings, total }
}
