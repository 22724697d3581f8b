import {
  type DatabaseOrTransaction,
  type ImpactRule,
  impactRuleRuns,
  isRunInForce,
  type Pooled,
  Prisma,
  type PrismaTransaction,
  type Rows,
  type RuleBanner,
} from '@switchyard/db'
import { lockProjectRow, lockRow, omit, rowReader, selectList } from '@switchyard/db/sql'
import type { ImpactFinding } from '@switchyard/domain/deployment'
import type { DeploymentUser } from '../deployments/store.js'

/** The fields of a rule that callers set. */
export interface RuleFields
  extends Omit<ImpactRule, 'projectId' | 'id' | 'banner' | 'createdAt' | 'updatedAt'> {
  banner: RuleBanner | null
}

export type RuleView = Omit<ImpactRule, 'banner'> &
  RuleFields & {
    /** Whether a freeze or a banner that the rule has created is in force. */
    inForce: boolean
  }

const dataOf = ({ banner, ...fields }: RuleFields) => ({ ...fields, banner: banner ?? Prisma.DbNull })

async function viewsOf(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  rules: readonly ImpactRule[],
): Promise<RuleView[]> {
  const rows = await prisma.$queryRaw<{ ruleId: number }[]>`SELECT DISTINCT r.rule_id AS "ruleId"
    FROM impact_rule_runs r WHERE r.project_id = ${projectId} AND ${Prisma.raw(isRunInForce)}`
  const inForce = new Set(rows.map(({ ruleId }) => ruleId))
  return rules.map((rule) => ({ ...rule, inForce: inForce.has(rule.id) }) as RuleView)
}

/** @returns null when there is no rule */
const viewOf = async (
  database: DatabaseOrTransaction,
  projectId: number,
  rule: ImpactRule | null | undefined,
): Promise<RuleView | null> => (rule ? ((await viewsOf(database, projectId, [rule]))[0] ?? null) : null)

/**
 * Returns the number of rules of a project. Locks the project until the transaction ends, so that two
 * transactions cannot add rules at the same time.
 */
export async function lockAndCountRules(transaction: PrismaTransaction, projectId: number): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.impactRule.count({ where: { projectId } })
}

export const createRule = async (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  fields: RuleFields,
): Promise<RuleView> =>
  ({
    ...(await prisma.impactRule.create({ data: { ...dataOf(fields), projectId } })),
    inForce: false,
  }) as RuleView

/** Lists the rules of a project, oldest first. */
export async function listRules(
  database: DatabaseOrTransaction,
  projectId: number,
  rows: Rows,
): Promise<{ rules: RuleView[]; total: number }> {
  const { impactRule } = database.prisma
  const [rules, total] = await Promise.all([
    impactRule.findMany({ where: { projectId }, orderBy: { id: 'asc' }, ...rows }),
    impactRule.count({ where: { projectId } }),
  ])
  return { rules: await viewsOf(database, projectId, rules), total }
}

export const findRule = async (
  database: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<RuleView | null> => {
  const rule = await database.prisma.impactRule.findUnique({ where: { projectId_id: { projectId, id } } })
  return viewOf(database, projectId, rule)
}

export const findNewestRule = async (
  database: DatabaseOrTransaction,
  projectId: number,
): Promise<RuleView | null> => {
  const rule = await database.prisma.impactRule.findFirst({ where: { projectId }, orderBy: { id: 'desc' } })
  return viewOf(database, projectId, rule)
}

/** @returns null when there is no such rule */
export async function updateRule(
  database: DatabaseOrTransaction,
  projectId: number,
  id: number,
  fields: RuleFields,
): Promise<RuleView | null> {
  const [rule] = await database.prisma.impactRule.updateManyAndReturn({
    where: { projectId, id },
    data: { ...dataOf(fields), updatedAt: new Date() },
  })
  return viewOf(database, projectId, rule)
}

/**
 * Deletes a rule, with its runs, unless a freeze or a banner of it is in force.
 *
 * @returns the number of deleted rules
 */
export async function deleteRule(
  transaction: PrismaTransaction,
  projectId: number,
  id: number,
): Promise<number> {
  // Waits for a worker that applies the rule, so that the next statement sees the run.
  await lockRow(transaction, 'impact_rules', { project_id: projectId, id }, 'UPDATE')
  return transaction.prisma
    .$executeRaw`DELETE FROM impact_rules WHERE project_id = ${projectId} AND id = ${id}
    AND NOT EXISTS (SELECT FROM impact_rule_runs r
      WHERE r.project_id = ${projectId} AND r.rule_id = ${id} AND ${Prisma.raw(isRunInForce)})`
}

/** The run of a rule for a deployment. */
export interface RunView {
  id: number
  ruleId: number
  ruleName: string
  deploymentId: number
  deploymentIid: number
  environment: string
  dryRun: boolean
  freezes: boolean
  banner: RuleBanner | null
  notifiesWebhooks: boolean
  findings: ImpactFinding[]
  inForce: boolean
  appliedAt: Date
  endedAt: Date | null
  endReason: string | null
  endedBy: DeploymentUser | null
}

/** Conditions on runs; a run must meet every condition that is set. */
export interface RunFilter {
  projectId: number
  ruleId?: number
  deploymentId?: number
  id?: number
}

const matches = `r.project_id = $1 AND ($2::integer IS NULL OR r.rule_id = $2)
  AND ($3::integer IS NULL OR r.deployment_id = $3) AND ($4::integer IS NULL OR r.id = $4)`

const matched = ({ projectId, ruleId, deploymentId, id }: RunFilter) => [
  projectId,
  ruleId ?? null,
  deploymentId ?? null,
  id ?? null,
]

const runColumns = omit(impactRuleRuns, 'projectId', 'environmentId', 'endedBy')

const readRun = rowReader(runColumns)

/** Lists runs, newest first. */
export async function listRuns(
  { pool }: Pooled,
  filter: RunFilter,
  { skip, take }: Rows,
): Promise<RunView[]> {
  const { rows } = await pool.query<Record<string, unknown>>({
    name: 'impact-rule-runs',
    text: `SELECT ${selectList('r', runColumns)},
        rule.name AS "ruleName", d.iid AS "deploymentIid", e.name AS environment,
        ${isRunInForce} AS "inForce", CASE WHEN u.id IS NOT NULL THEN json_build_object(
          'id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'email', u.email) END AS "endedBy"
      FROM impact_rule_runs r
      JOIN impact_rules rule ON rule.project_id = r.project_id AND rule.id = r.rule_id
      JOIN deployments d ON d.project_id = r.project_id AND d.id = r.deployment_id
      JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
      LEFT JOIN users u ON u.id = r.ended_by
      WHERE ${matches} ORDER BY r.id DESC LIMIT $5 OFFSET $6`,
    values: [...matched(filter), take, skip],
  })
  return rows.map((row) => readRun(row) as RunView)
}

export async function countRuns({ pool }: Pooled, filter: RunFilter): Promise<number> {
  const { rows } = await pool.query<{ total: number }>({
    name: 'impact-rule-runs-count',
    text: `SELECT count(*)::int AS total FROM impact_rule_runs r WHERE ${matches}`,
    values: matched(filter),
  })
  return rows[0]?.total ?? 0
}

/**
 * Stores that somebody has reverted a run.
 *
 * @returns the number of runs that were in force before
 */
export const endRun = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id }: { projectId: number; id: number },
  userId: number,
): Promise<number> => prisma.$executeRaw`UPDATE impact_rule_runs r
  SET ended_at = now(), end_reason = 'reverted', ended_by = ${userId}
  WHERE r.project_id = ${projectId} AND r.id = ${id} AND ${Prisma.raw(isRunInForce)}`
