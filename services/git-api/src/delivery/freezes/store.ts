import {
  type DatabaseOrTransaction,
  type Deployment,
  type Environment,
  type FreezePeriod,
  type ImpactRule,
  type ImpactRuleRun,
  Prisma,
  type Project,
  runEnd,
} from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { projectsWithReadableDeployments } from '../environments/store.js'

/** A time in which a project, or one of its environments, should not be deployed. */
export interface Freeze {
  project: Project
  startsAt: Date
  /** Null: the freeze lasts until the findings behind it are resolved. */
  endsAt: Date | null
  /**
   * A period freezes every environment of the project; a rule freezes the environment of the deployment that
   * it ran for.
   */
  source: { period: FreezePeriod } | { run: FreezingRun }
}

/** The run of a rule that froze the environment of a deployment. */
export type FreezingRun = ImpactRuleRun & {
  rule: Pick<ImpactRule, 'name'>
  deployment: Deployment & { project: Project; environment: Pick<Environment, 'name'> }
}

/** Lists freezes by rules, of the runs that meet a condition. */
async function listRuleFreezes(
  database: DatabaseOrTransaction,
  { where, ...question }: Pick<Prisma.ImpactRuleRunFindManyArgs, 'where' | 'orderBy' | 'take'>,
): Promise<(Freeze & { source: { run: FreezingRun } })[]> {
  const runs = await database.prisma.impactRuleRun.findMany({
    ...question,
    where: { ...where, freezes: true, dryRun: false },
    include: {
      rule: { select: { name: true } },
      deployment: { include: { project: true, environment: { select: { name: true } } } },
    },
  })
  const ends = await findEnds(database, runs)
  return runs.map((run) => ({
    project: run.deployment.project,
    startsAt: run.appliedAt,
    endsAt: ends.get(run.id) ?? null,
    source: { run },
  }))
}

/** Returns the ends of freezes by the id of the run; null while a freeze holds. */
async function findEnds({ prisma }: DatabaseOrTransaction, runs: readonly ImpactRuleRun[]) {
  const projectIds = runs.map(({ projectId }) => projectId)
  const ids = runs.map(({ id }) => id)
  const rows = await prisma.$queryRaw<{ id: number; end: Date | null }[]>`
    SELECT r.id, ${Prisma.raw(runEnd)} AS "end" FROM impact_rule_runs r
    JOIN unnest(${projectIds}::integer[], ${ids}::integer[]) AS asked (project_id, id)
      ON r.project_id = asked.project_id AND r.id = asked.id`
  return new Map(rows.map(({ id, end }) => [id, end]))
}

/** Lists freezes by rules, in a time, of projects whose deployments the caller may read, the latest first. */
export async function listReadableRuleFreezes(
  database: DatabaseOrTransaction,
  caller: Caller,
  { endsAfter, startsBefore }: { endsAfter: Date; startsBefore: Date },
  take: number,
): Promise<Freeze[]> {
  const freezes = await listRuleFreezes(database, {
    where: {
      appliedAt: { lte: startsBefore },
      OR: [{ endedAt: null }, { endedAt: { gte: endsAfter } }],
      deployment: { project: { ...projectsWithReadableDeployments(caller), archived: false } },
    },
    orderBy: [{ appliedAt: 'desc' }, { projectId: 'asc' }, { id: 'asc' }],
    take,
  })
  return freezes.filter(({ endsAt }) => endsAt === null || endsAt >= endsAfter)
}

/**
 * Returns the oldest freeze of an environment by a rule; null when there is none. A commit that the
 * environment had before the deployment of the rule is not frozen, because going back to it resolves the
 * findings.
 */
export async function findRuleFreeze(
  database: DatabaseOrTransaction,
  { projectId, environment, sha }: { projectId: number; environment: string; sha: string },
): Promise<Freeze | null> {
  const freezes = await listRuleFreezes(database, {
    where: { projectId, endedAt: null, deployment: { environment: { name: environment } } },
    orderBy: { id: 'asc' },
  })
  for (const freeze of freezes)
    if (freeze.endsAt === null && !(await isStepBack(database, freeze.source.run, sha))) return freeze
  return null
}

/** Returns whether a commit was deployed to the environment of a run before the run's deployment. */
async function isStepBack(
  { prisma }: DatabaseOrTransaction,
  { deployment: { projectId, environmentId, finishedAt, sha: blamed } }: FreezingRun,
  sha: string,
): Promise<boolean> {
  if (sha === blamed || finishedAt === null) return false
  const earlier = { projectId, environmentId, status: 'success', sha, finishedAt: { lt: finishedAt } }
  return (await prisma.deployment.findFirst({ where: earlier, select: { id: true } })) !== null
}
