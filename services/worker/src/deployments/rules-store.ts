import {
  broadcastMessages,
  impactRuleRuns,
  isRunDismissed,
  isRunFollowed,
  isRunOpen,
  type PoolClient,
  type RuleBanner,
} from '@switchyard/db'
import { insertInto, omit, pick, queryOf } from '@switchyard/db/sql'
import { dayMs } from '@switchyard/domain'
import type { ImpactFinding, ImpactRuleCondition } from '@switchyard/domain/deployment'

interface DeploymentKey {
  projectId: number
  id: number
}

interface AppliedDeployment extends DeploymentKey {
  environmentId: number
}

export interface Rule extends ImpactRuleCondition {
  id: number
  name: string
  freezes: boolean
  banner: RuleBanner | null
  notifiesWebhooks: boolean
  dryRun: boolean
}

/** Time after which a banner ends by itself. */
const bannerMsMax = 30 * dayMs
/** Most findings that a run stores. */
const findingsMax = 50

/**
 * Lists the rules of a deployment's project; none when the deployment is dismissed, or another one has
 * followed in its environment.
 */
export async function listRules(client: PoolClient, { projectId, id }: DeploymentKey): Promise<Rule[]> {
  const { rows } = await client.query<Rule>({
    name: 'impact-rules-to-apply',
    text: `SELECT rule.id, rule.name, rule.services, rule.measures, rule.environments, rule.tiers,
        rule.ratio_min AS "ratioMin", rule.confidence_min AS "confidenceMin", rule.freezes, rule.banner,
        rule.tells_webhooks AS "notifiesWebhooks", rule.dry_run AS "dryRun"
      FROM impact_rules rule CROSS JOIN (SELECT $1::integer AS project_id, $2::integer AS deployment_id) r
      WHERE rule.project_id = $1 AND NOT ${isRunDismissed} AND NOT ${isRunFollowed} ORDER BY rule.id`,
    values: [projectId, id],
  })
  return rows
}

const insertRunRow = insertInto(
  'impact-rule-apply',
  'impact_rule_runs',
  omit(impactRuleRuns, 'id', 'endedAt', 'endReason', 'endedBy'),
  'ON CONFLICT (project_id, rule_id, deployment_id) DO NOTHING RETURNING id',
)

/** @returns the id of the run; null when the rule was applied to the deployment before */
export async function insertRun(
  client: PoolClient,
  { id, dryRun, freezes, banner, notifiesWebhooks }: Rule,
  { deployment, findings, now }: { deployment: AppliedDeployment; findings: ImpactFinding[]; now: Date },
): Promise<number | null> {
  const run = {
    projectId: deployment.projectId,
    ruleId: id,
    deploymentId: deployment.id,
    environmentId: deployment.environmentId,
    dryRun,
    freezes,
    banner,
    notifiesWebhooks,
    findings: findings.slice(0, findingsMax),
    appliedAt: now,
  }
  const { rows } = await client.query<{ id: number }>(queryOf(insertRunRow, [run]))
  return rows[0]?.id ?? null
}

const insertBannerRow = insertInto(
  'impact-rule-banner',
  'broadcast_messages',
  pick(
    broadcastMessages,
    'message',
    'startsAt',
    'endsAt',
    'theme',
    'dismissable',
    'targetPath',
    'ruleProjectId',
    'ruleRunId',
  ),
)

export async function insertBanner(
  client: PoolClient,
  banner: RuleBanner,
  { projectId, id, now }: { projectId: number; id: number; now: Date },
): Promise<void> {
  const endsAt = new Date(now.getTime() + bannerMsMax)
  const message = { ...banner, startsAt: now, endsAt, ruleProjectId: projectId, ruleRunId: id }
  await client.query(queryOf(insertBannerRow, [message]))
}

/** Removes the banners of runs that have ended. @returns their number */
export async function endBanners(client: PoolClient, now: Date): Promise<number> {
  const { rowCount } = await client.query({
    name: 'impact-rules-end-banners',
    text: `UPDATE broadcast_messages m SET ends_at = GREATEST(starts_at, $1::timestamptz), updated_at = $1
      WHERE m.ends_at > $1 AND m.rule_run_id IS NOT NULL AND NOT EXISTS (SELECT FROM impact_rule_runs r
        WHERE r.project_id = m.rule_project_id AND r.id = m.rule_run_id AND ${isRunOpen})`,
    values: [now],
  })
  return rowCount ?? 0
}
