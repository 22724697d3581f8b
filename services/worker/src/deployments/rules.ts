import { type BroadcastNotice, broadcastChannel } from '@switchyard/contracts/jobs'
import {
  endRuns,
  inPoolTransaction,
  type PoolClient,
  type Pooled,
  type RuleBanner,
  recordAuditEvent,
} from '@switchyard/db'
import {
  bannerMessage,
  findingsForRule,
  type ImpactFinding,
  projectPagesTarget,
} from '@switchyard/domain/deployment'
import { deploymentPage, enqueueForProject, type HookDeployment, ruleDelivery } from '@switchyard/webhooks'
import type { Redis } from 'ioredis'
import { endBanners, insertBanner, insertRun, listRules, type Rule } from './rules-store.js'

/** The deployment of a comparison. */
export interface ComparedDeployment {
  projectId: number
  id: number
  iid: number
  sha: string
  ref: string
  environmentId: number
  environment: { name: string; tier: string }
  pathWithNamespace: string
}

/** Returns a deployment in the shape of webhooks. */
export const hookDeployment = ({
  projectId,
  pathWithNamespace,
  ...deployment
}: ComparedDeployment): HookDeployment => ({
  ...deployment,
  project: { id: projectId, pathWithNamespace },
})

/** The time and the link base with which rules are applied. */
export interface RuleContext {
  now: Date
  /** Base of links; undefined: no links. */
  externalUrl: string | undefined
}

/**
 * Applies the rules of a deployment's project to its findings, each rule once, in the transaction that stores
 * the findings. A deployment that is dismissed, or that another one has followed in its environment, is
 * skipped.
 *
 * @returns the names of the applied rules, including dry runs
 */
export async function applyRules(
  client: PoolClient,
  deployment: ComparedDeployment,
  findings: readonly ImpactFinding[],
  context: RuleContext,
): Promise<string[]> {
  const applied: string[] = []
  for (const rule of await listRules(client, deployment)) {
    const matching = findingsForRule(rule, deployment.environment, findings)
    if (matching.length > 0 && (await applyRule(client, rule, { deployment, findings: matching, context })))
      applied.push(rule.name)
  }
  return applied
}

interface Application {
  deployment: ComparedDeployment
  /** The findings that match the rule. */
  findings: ImpactFinding[]
  context: RuleContext
}

/** @returns false when the rule was applied to the deployment before */
async function applyRule(client: PoolClient, rule: Rule, application: Application): Promise<boolean> {
  const { deployment, findings, context } = application
  const banner = rule.banner && shownBanner(rule.name, rule.banner, application)
  const id = await insertRun(client, { ...rule, banner }, { deployment, findings, now: context.now })
  if (id === null) return false
  if (rule.dryRun) return true
  const { projectId } = deployment
  if (banner) await insertBanner(client, banner, { projectId, id, now: context.now })
  if (rule.notifiesWebhooks) {
    const { name, freezes } = rule
    const run = { id, rule: { id: rule.id, name }, freezes, banner: banner?.message ?? null, findings }
    await enqueueForProject(client, projectId, 'impact_rule', () =>
      ruleDelivery(hookDeployment(deployment), run, context.externalUrl),
    )
  }
  await recordAuditEvent(client, null, {
    eventName: 'impact_rule_applied',
    entityType: 'Project',
    entityId: projectId,
    details: {
      impact_rule_id: rule.id,
      impact_rule_run_id: id,
      deployment_id: deployment.id,
      name: rule.name,
      environment: deployment.environment.name,
      freeze: rule.freezes,
      banner: banner !== null,
      webhook: rule.notifiesWebhooks,
    },
  })
  return true
}

function shownBanner(
  rule: string,
  { message, targetPath, ...look }: RuleBanner,
  { deployment, findings, context }: Application,
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
    url: deploymentPage({ project, id }, context.externalUrl),
  })
  return { ...look, message: text, targetPath: targetPath ?? projectPagesTarget(pathWithNamespace) }
}

/**
 * Ends the runs of rules for deployments that were dismissed or followed by another one, and removes the
 * banners of ended runs.
 *
 * @returns whether a banner was removed
 */
export const endRules = ({ pool }: Pooled, now: Date): Promise<boolean> =>
  inPoolTransaction(pool, async (client) => {
    await recordAuditEvent(client, null, ...(await endRuns(client, null)))
    return (await endBanners(client, now)) > 0
  })

/** Notifies the replicas of admin-broadcast that messages have changed. */
export async function announceBanners(redis: Redis): Promise<void> {
  const changed: BroadcastNotice = {}
  await redis.publish(broadcastChannel, JSON.stringify(changed))
}
