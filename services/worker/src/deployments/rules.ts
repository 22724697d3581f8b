import { type BroadcastNotice, broadcastChannel } from '@switchyard/contracts/jobs'
import {
  type AuditedChange,
  enqueueForProject,
  inPoolTransaction,
  isRunDismissed,
  isRunFollowed,
  isRunOpen,
  type PoolClient,
  type Pooled,
  type RuleBanner,
  recordAuditEvents,
} from '@switchyard/db'
import {
  bannerMessage,
  findingsForRule,
  type ImpactFinding,
  type ImpactRuleCondition,
  projectPagesTarget,
} from '@switchyard/domain/deployment'
import { deploymentPage, type HookDeployment, ruleDelivery } from '@switchyard/webhooks'
import type { Redis } from 'ioredis'

/** What a comparison was about. */
export interface ComparedDeployment {
  projectId: number
  id: number
  iid: number
  sha: string
  ref: string
  environment: { name: string; tier: string }
  pathWithNamespace: string
}

/** A deployment as webhooks show it. */
export const hookDeployment = ({
  projectId,
  pathWithNamespace,
  ...deployment
}: ComparedDeployment): HookDeployment => ({
  ...deployment,
  project: { id: projectId, pathWithNamespace },
})

interface Rule extends ImpactRuleCondition {
  id: number
  name: string
  freezes: boolean
  banner: RuleBanner | null
  notifiesWebhooks: boolean
  dryRun: boolean
}

/** A banner that nobody ends goes away after this time. */
const bannerMsMax = 30 * 24 * 60 * 60_000
/** Findings that a run keeps. */
const findingsMax = 50

/** When rules are applied, and what links begin with. */
export interface Occasion {
  now: Date
  /** Base of links; undefined: no links. */
  externalUrl: string | undefined
}

/**
 * Applies the rules of the project of a deployment to what was found about it, each rule once, in the transaction that stores what
 * was found. A deployment that is dismissed, or that another one has followed in its environment, is left alone.
 *
 * @returns the names of the rules that were applied, dry runs among them
 */
export async function applyRules(
  client: PoolClient,
  deployment: ComparedDeployment,
  findings: readonly ImpactFinding[],
  occasion: Occasion,
): Promise<string[]> {
  const applied: string[] = []
  for (const rule of await listRules(client, deployment)) {
    const matching = findingsForRule(rule, deployment.environment, findings)
    if (matching.length > 0 && (await applyRule(client, rule, { deployment, findings: matching, occasion })))
      applied.push(rule.name)
  }
  return applied
}

async function listRules(client: PoolClient, { projectId, id }: ComparedDeployment): Promise<Rule[]> {
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

interface Application {
  deployment: ComparedDeployment
  /** Those that the rule is about. */
  findings: ImpactFinding[]
  occasion: Occasion
}

/** @returns false when the rule was applied to the deployment before */
async function applyRule(client: PoolClient, rule: Rule, application: Application): Promise<boolean> {
  const { deployment, findings, occasion } = application
  const banner = rule.banner && shownBanner(rule.name, rule.banner, application)
  const id = await insertRun(client, { ...rule, banner }, application)
  if (id === null) return false
  if (rule.dryRun) return true
  const { projectId } = deployment
  if (banner) await insertBanner(client, banner, { projectId, id, now: occasion.now })
  if (rule.notifiesWebhooks) {
    const { name, freezes } = rule
    const run = { id, rule: { id: rule.id, name }, freezes, banner: banner?.message ?? null, findings }
    await enqueueForProject(client, projectId, 'impact_rule', () =>
      ruleDelivery(hookDeployment(deployment), run, occasion.externalUrl),
    )
  }
  const about = { runId: id, ruleId: rule.id, projectId, deploymentId: deployment.id }
  await recordAuditEvents(client, null, [
    ruleEvent('impact_rule_applied', about, {
      name: rule.name,
      environment: deployment.environment.name,
      freeze: rule.freezes,
      banner: banner !== null,
      webhook: rule.notifiesWebhooks,
    }),
  ])
  return true
}

function shownBanner(
  rule: string,
  { message, targetPath, ...look }: RuleBanner,
  { deployment, findings, occasion }: Application,
): RuleBanner {
  const { environment, pathWithNamespace, projectId, id, iid, ref } = deployment
  const project = { id: projectId, pathWithNamespace }
  const text = bannerMessage(message, {
    rule,
    project: pathWithNamespace,
    environment: environment.name,
    deployment: iid,
    ref,
    services: findings.map(({ serviceName }) => serviceName),
    url: deploymentPage({ project, id }, occasion.externalUrl),
  })
  return { ...look, message: text, targetPath: targetPath ?? projectPagesTarget(pathWithNamespace) }
}

/** @returns the id of the run; null when the rule was applied to the deployment before */
async function insertRun(
  client: PoolClient,
  { id, dryRun, freezes, banner, notifiesWebhooks }: Rule,
  { deployment, findings, occasion }: Application,
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
      JSON.stringify(findings.slice(0, findingsMax)),
      occasion.now,
    ],
  })
  return rows[0]?.id ?? null
}

const insertBanner = (
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

interface RunKey {
  runId: number
  ruleId: number
  projectId: number
  deploymentId: number
}

const ruleEvent = (
  eventName: string,
  { runId, ruleId, projectId, deploymentId }: RunKey,
  details: AuditedChange['details'],
): AuditedChange => ({
  eventName,
  entityType: 'Project',
  entityId: projectId,
  details: {
    impact_rule_id: ruleId,
    impact_rule_run_id: runId,
    deployment_id: deploymentId,
    ...details,
  },
})

/**
 * Notes the end of what rules did about deployments that are dismissed or followed by now, and takes away the banners of runs that
 * have ended.
 *
 * @returns whether a banner was taken away
 */
export const endRules = ({ pool }: Pooled, now: Date): Promise<boolean> =>
  inPoolTransaction(pool, async (client) => {
    const { rows: ended } = await client.query<RunKey & { reason: string }>({
      name: 'impact-rules-end',
      text: `UPDATE impact_rule_runs r SET ended_at = $1,
          end_reason = CASE WHEN ${isRunDismissed} THEN 'dismissed' ELSE 'deployed' END
        WHERE ${isRunOpen} AND (${isRunDismissed} OR ${isRunFollowed})
        RETURNING r.id AS "runId", r.rule_id AS "ruleId", r.project_id AS "projectId",
          r.deployment_id AS "deploymentId", r.end_reason AS reason`,
      values: [now],
    })
    await recordAuditEvents(
      client,
      null,
      ended.map(({ reason, ...run }) => ruleEvent('impact_rule_ended', run, { reason })),
    )
    const { rowCount } = await client.query({
      name: 'impact-rules-end-banners',
      text: `UPDATE broadcast_messages m SET ends_at = GREATEST(starts_at, $1::timestamptz), updated_at = $1
        WHERE m.ends_at > $1 AND m.rule_run_id IS NOT NULL AND NOT EXISTS (SELECT FROM impact_rule_runs r
          WHERE r.project_id = m.rule_project_id AND r.id = m.rule_run_id AND ${isRunOpen})`,
      values: [now],
    })
    return (rowCount ?? 0) > 0
  })

/** Tells the replicas of admin-broadcast that messages have changed. */
export async function announceBanners(redis: Redis): Promise<void> {
  const changed: BroadcastNotice = {}
  await redis.publish(broadcastChannel, JSON.stringify(changed))
}
