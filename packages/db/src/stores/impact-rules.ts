// The effects of the delivery loop's rules on a deployment. The worker applies and ends them, git-api shows
// and reverts them.

import type { ImpactFinding } from '@switchyard/domain/deployment'
import type { ImpactRuleRun } from '../generated/client.js'
import { flag, integer, json, rowColumns, text, time } from '../sql/row-columns.js'
import { query, type Transaction } from '../sql/transaction.js'
import type { AuditedChange } from './audit-events.js'

/**
 * A banner: of a rule, the message is a template; of a run, it is the shown text. It is a type, because
 * TypeScript does not accept an interface as a JSON value.
 */
export type RuleBanner = {
  message: string
  /** Null for a rule: the pages of the project in the console. */
  targetPath: string | null
  theme: string
  dismissable: boolean
}

/** A finding as it is stored in the row of a run. */
type StoredFinding = Omit<ImpactFinding, 'pValue'> & { chance: number }

interface RunRecord extends Omit<ImpactRuleRun, 'banner' | 'findings'> {
  banner: RuleBanner | null
  findings: ImpactFinding[]
}

/** The columns of `impact_rule_runs`. */
export const impactRuleRuns = rowColumns<RunRecord>({
  projectId: integer('project_id'),
  id: integer('id'),
  ruleId: integer('rule_id'),
  deploymentId: integer('deployment_id'),
  environmentId: integer('environment_id'),
  dryRun: flag('dry_run'),
  freezes: flag('freezes'),
  banner: json('banner'),
  notifiesWebhooks: flag('tells_webhooks'),
  findings: {
    ...json('findings'),
    toSql: (findings) =>
      JSON.stringify(findings.map(({ pValue, ...finding }) => ({ ...finding, chance: pValue }))),
    fromSql: (stored: StoredFinding[]) =>
      stored.map(({ chance, ...finding }) => ({ ...finding, pValue: chance })),
  },
  appliedAt: time('applied_at'),
  endedAt: time('ended_at'),
  endReason: text('end_reason'),
  endedBy: integer('ended_by'),
})

// SQL about the run `r`. `isRunDismissed` and `isRunFollowed` need only its project and deployment.

const hasDoneWhatEnds = 'NOT r.dry_run AND (r.freezes OR r.banner IS NOT NULL)'

/** Whether the run has an effect that can end, and no end is recorded. */
export const isRunOpen = `(r.ended_at IS NULL AND ${hasDoneWhatEnds})`

const dismissals = `deployment_dismissals d
  WHERE d.project_id = r.project_id AND d.deployment_id = r.deployment_id`

const followers = `deployments blamed JOIN deployments later
  ON later.project_id = blamed.project_id AND later.environment_id = blamed.environment_id
    AND later.status = 'success' AND later.finished_at > blamed.finished_at
  WHERE blamed.project_id = r.project_id AND blamed.id = r.deployment_id`

/** Whether the findings about its deployment are dismissed. */
export const isRunDismissed = `EXISTS (SELECT FROM ${dismissals})`

/** Whether the environment has received another deployment since. */
export const isRunFollowed = `EXISTS (SELECT FROM ${followers})`

const dismissedAt = `(SELECT d.created_at FROM ${dismissals})`

/** The time at which the run's effect ended, even before the end is recorded; null while it holds. */
export const runEnd = `COALESCE(r.ended_at, LEAST(${dismissedAt}, (SELECT min(later.finished_at) FROM ${followers})))`

/** The reason why the run's effect has ended, while no end is recorded. */
const runEndReason = `CASE WHEN ${dismissedAt} = ${runEnd} THEN 'dismissed' ELSE 'deployed' END`

/** Whether the run's effect holds. */
export const isRunInForce = `(${hasDoneWhatEnds} AND ${runEnd} IS NULL)`

const endOfRuns = `UPDATE impact_rule_runs r SET ended_at = ${runEnd}, end_reason = ${runEndReason}
  WHERE ${isRunOpen} AND ${runEnd} IS NOT NULL`

const endedRun = `RETURNING r.id, r.rule_id AS "ruleId", r.project_id AS "projectId",
  r.deployment_id AS "deploymentId", r.end_reason AS reason`

const endOfAll = { name: 'impact-rule-runs-end', text: `${endOfRuns} ${endedRun}` }
const endOfOneDeployment = {
  name: 'impact-rule-runs-end-of-deployment',
  text: `${endOfRuns} AND r.project_id = $1 AND r.deployment_id = $2 ${endedRun}`,
}

interface EndedRun {
  id: number
  ruleId: number
  projectId: number
  deploymentId: number
  reason: string
}

/**
 * Records the end of runs about deployments that are now dismissed or followed. The end is the time of that
 * change, not of the record.
 *
 * @param about the only deployment whose runs end; null: all
 * @returns the content of an audit entry for each run that has ended
 */
export async function endRuns(
  transaction: Transaction,
  about: { projectId: number; deploymentId: number } | null,
): Promise<AuditedChange[]> {
  const ended = about
    ? await query<EndedRun>(transaction, {
        ...endOfOneDeployment,
        values: [about.projectId, about.deploymentId],
      })
    : await query<EndedRun>(transaction, endOfAll)
  return ended.map(({ id, ruleId, projectId, deploymentId, reason }) => ({
    eventName: 'impact_rule_ended',
    entityType: 'Project',
    entityId: projectId,
    details: { impact_rule_id: ruleId, impact_rule_run_id: id, deployment_id: deploymentId, reason },
  }))
}
