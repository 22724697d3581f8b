import {
  isRunDismissed,
  isRunFollowed,
  isRunOpen,
  type PoolClient,
  packFindings,
  type RuleBanner,
} from '@switchyard/db'
import { dayMs } from '@switchyard/domain'
import type { ImpactFinding, ImpactRuleCondition } from '@switchyard/domain/deployment'

interface DeploymentKey {
  projectId: number
  id: number
}

export interface Rule extends ImpactRuleCondition {
  id: number
  name: string
  freezes: boolean
  banner: RuleBanner | null
  notifiesWebhooks: boolean
  dryRun: boolean
}

/** A banner that nobody ends goes away after this time. */
const bannerMsMax = 30 * dayMs
/** Findings that a run keeps. */
const findingsMax = 50

/**
 * Rules of the project of a deployment; none when it is dismissed, or another one has followed in its
 * environment.
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

/** @returns the id of the run; null when the rule was applied to the deployment before */
export async function insertRun(
  client: PoolClient,
  { id, dryRun, freezes, banner, notifiesWebhooks }: Rule,
  { deployment, findings, now }: { deployment: DeploymentKey; findings: ImpactFinding[]; now: Date },
): Promise<number | null> {
  const { rows } = await client.query<{ id: number }>({
    name: 'impact-rule-apply',
    text: `INSERT INTO impact_rule_runs (project_id, rule_id, deployment_id, environment_id, dry_run, freezes, banner,
        tells_webhooks, findings, applied_at)
      SELECT d.project_id, $3::integer, d.id, d.environment_id, $4::boolean, $5::boolean, $6::jsonb, $7::boolean,
        $8::jsonb, $9::timestamptz
      FROM deployments d WHERE d.project_id = $1 AND d.id = $2
      ON CONFLICT (project_id, rule_id, deployment_id) DO NOTHING RETURNING id`,
    values: [
      deployment.projectId,
      deployment.id,
      id,
      dryRun,
      freezes,
      banner && JSON.stringify(banner),
      notifiesWebhooks,
      JSON.stringify(packFindings(findings.slice(0, findingsMax))),
      now,
    ],
  })
  return rows[0]?.id ?? null
}

export const insertBanner = (
  client: PoolClient,
  { message, targetPath, theme, dismissable }: RuleBanner,
  { projectId, id, now }: { projectId: number; id: number; now: Date },
) =>
  client.query({
    name: 'impact-rule-banner',
    text: `INSERT INTO broadcast_messages
        (message, starts_at, ends_at, theme, dismissable, target_path, rule_project_id, rule_run_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      message,
      now,
      new Date(now.getTime() + bannerMsMax),
      theme,
      dismissable,
      targetPath,
      projectId,
      id,
    ],
  })

/** Takes away the banners of runs that have ended. @returns how many */
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
