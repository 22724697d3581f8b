import type { Database, DeploymentFinding, Prisma, Rows } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import type { DeploymentInProject } from '../deployments/store.js'
import { projectsWithReadableDeployments } from '../environments/store.js'

/** An ended deployment of any project, with its findings. */
export type EndedDeployment = DeploymentInProject & {
  /** The first findings of the deployment. */
  findings: Pick<DeploymentFinding, 'tenant' | 'serviceName' | 'measure'>[]
  isDismissed: boolean
}

interface EndedFilter {
  finishedAfter: Date
  finishedBefore: Date | undefined
  /** Tenants whose findings are shown; null: every tenant. */
  tenants: readonly string[] | null
}

/** Most findings of a deployment that are shown. */
const findingsMax = 20

/** Returns one page of the ended deployments that the caller may read, the latest first. */
export async function listEndedDeployments(
  { prisma }: Database,
  caller: Caller,
  { finishedAfter, finishedBefore, tenants }: EndedFilter,
  rows: Rows,
): Promise<{ deployments: EndedDeployment[]; total: number }> {
  const where = {
    finishedAt: { gte: finishedAfter, lte: finishedBefore },
    project: projectsWithReadableDeployments(caller),
  } satisfies Prisma.DeploymentWhereInput
  const findings = {
    where: tenants === null ? {} : { tenant: { in: [...tenants] } },
    orderBy: [{ changePointAt: 'asc' as const }, { id: 'asc' as const }],
    take: findingsMax,
  }
  const [found, total] = await Promise.all([
    prisma.deployment.findMany({
      where,
      include: { environment: true, user: true, project: true, findings, dismissal: true },
      orderBy: [{ finishedAt: 'desc' }, { projectId: 'asc' }, { id: 'asc' }],
      ...rows,
    }),
    prisma.deployment.count({ where }),
  ])
  const deployments = found.map(({ dismissal, ...each }) => ({ ...each, isDismissed: dismissal !== null }))
  return { deployments, total }
}
