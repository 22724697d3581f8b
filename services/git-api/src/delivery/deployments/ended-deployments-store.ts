import type { Database, DeploymentFinding, Prisma, Project, Rows } from '@switchyard/db'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { projectsWithReadableDeployments } from '../environments/store.js'
import type { DeploymentView } from './store.js'

/** A deployment of any project that has ended, with what became worse with it. */
export interface EndedDeployment extends DeploymentView {
  project: Project
  /** Of the tenants that the caller may name; the first ones. */
  findings: Pick<DeploymentFinding, 'tenant' | 'serviceName' | 'measure'>[]
  isDismissed: boolean
}

interface EndedFilter {
  finishedAfter: Date
  finishedBefore: Date | undefined
}

/** A deployment of many services with many findings shows so many of them. */
const findingsMax = 20

/** One page of the deployments that have ended and that the caller may read, the last one first. */
export async function listEndedDeployments(
  { prisma }: Database,
  caller: Caller,
  { finishedAfter, finishedBefore }: EndedFilter,
  rows: Rows,
): Promise<{ deployments: EndedDeployment[]; total: number }> {
  const where = {
    finishedAt: { gte: finishedAfter, lte: finishedBefore },
    project: projectsWithReadableDeployments(caller),
  } satisfies Prisma.DeploymentWhereInput
  const bound = boundTenantsOf(caller)
  const findings = {
    where: bound === null ? {} : { tenant: { in: [...bound] } },
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
