import { type Database, inPoolTransaction, type Pooled, sqlStateOf, sqlStates } from '@switchyard/db'
import {
  type Finding,
  findImpact,
  isCommonCause,
  looksWithin,
  type Moments,
  metricsOf,
  type ObservedHistory,
  type ServiceMetrics,
} from '@switchyard/delivery-impact'
import { type Clock, dayMs } from '@switchyard/domain'
import type { DatedFinding } from '@switchyard/domain/deployment'
import type { Logger } from '@switchyard/service-kit/observability'
import { enqueueForProject, impactDelivery } from '@switchyard/webhooks'
import type { Redis } from 'ioredis'
import type { ImpactSettings } from '../impact-config.js'
import { jobType } from '../job-type.js'
import { withSweepLease } from '../sweeps.js'
import type { WebhookTools } from '../webhooks/webhooks.js'
import { type ComparedQueues, compareQueues } from './compare-queues.js'
import { type DeploymentKey, type DueDeployment, type Impact, listDue, writeImpact } from './impact-store.js'
import { noteRecoveries } from './recovery.js'
import { announceBanners, applyRules, endRules, hookDeployment, type RuleContext } from './rules.js'
import {
  type HistoryQuestion,
  listOthers,
  listTenants,
  readBriefHistory,
  readHistory,
} from './saga-history-store.js'

const minuteMs = 60_000
const timeoutMs = 2 * minuteMs
/** Time after which a comparison that failed is tried again. */
const againMs = 5 * minuteMs
/** Most deployments that one run compares. */
const deploymentsMax = 50
/**
 * Longest rollout. A deployment that took longer had to wait, for example for an approval: its start is
 * assumed to be this long before its end.
 */
const rolloutMsMax = 30 * minuteMs
/** Time after its window after which a deployment is never compared. */
const missedMsMax = dayMs

interface Dependencies {
  database: Database
  clock: Clock
  redis: Redis
  impact: ImpactSettings
  webhooks: WebhookTools
}

/**
 * Compares the services of finished deployments before and after them, while the window after each one grows,
 * and stores findings, recoveries and the runs of rules. The next run continues after an interruption.
 */
export function deploymentImpact({ database, clock, redis, impact: settings, webhooks }: Dependencies) {
  // The comparisons of other deployments go first.
  let postponed: Postponed[] = []
  return jobType({
    queue: 'deployment-impact',
    concurrency: 1,
    timeoutMs,
    schedule: { everyMs: 10_000, atStart: true, attempts: 1, retryDelayMs: 1000 },
    run: (_payload, { signal, logger }) =>
      withSweepLease(database, 'deployment-impact', timeoutMs, async () => {
        let bannersChange = await endRules(database, clock())
        const startedMs = clock().getTime()
        postponed = postponed.filter(({ untilMs }) => untilMs > startedMs)
        for (const deployment of await listDueDeployments(database, settings, postponed, clock())) {
          if (signal.aborted) break
          const comparison = { database, redis, settings, logger }
          const context = { now: clock(), externalUrl: webhooks.externalUrl }
          const result = await compareDeployment(comparison, deployment, context)
          if (result === 'failed') postponed.push({ ...deployment, untilMs: clock().getTime() + againMs })
          bannersChange ||= result === 'rules applied'
        }
        await noteRecoveries({ database, redis }, settings, { now: clock(), signal, logger })
        if (bannersChange) await announceBanners(redis)
      }),
  })
}

/** A deployment whose comparison has failed, and is tried again after this time. */
interface Postponed extends DeploymentKey {
  untilMs: number
}

const listDueDeployments = (
  database: Database,
  { tiers, windowMinutes }: ImpactSettings,
  postponed: readonly DeploymentKey[],
  now: Date,
) => {
  const [firstLook = 0] = looksWithin(windowMinutes)
  return listDue(database, {
    tiers,
    finishedAfter: new Date(now.getTime() - windowMinutes * minuteMs - missedMsMax),
    finishedBefore: new Date(now.getTime() - firstLook * minuteMs),
    now,
    postponed,
    rowsMax: deploymentsMax,
  })
}

interface Comparison extends Pick<Dependencies, 'database' | 'redis'> {
  settings: ImpactSettings
  logger: Logger
}

/**
 * Compares the services of a deployment. When that fails, the comparisons of other deployments go on, and a
 * later run repeats this one.
 */
async function compareDeployment(
  comparison: Comparison,
  deployment: DueDeployment,
  context: RuleContext,
): Promise<'compared' | 'rules applied' | 'failed'> {
  const { database, logger } = comparison
  const about = { project_id: deployment.projectId, deployment_id: deployment.id }
  try {
    const impact = await findDeploymentImpact(comparison, deployment, context.now)
    const rules = await recordImpact(database, deployment, impact, context)
    const { length: findings } = impact.findings
    if (findings > 0) logger.info({ ...about, findings, rules }, 'services became worse with a deployment')
    return rules.length > 0 ? 'rules applied' : 'compared'
  } catch (error) {
    logger.warn({ ...about, err: error }, 'could not compare the services of a deployment')
    return 'failed'
  }
}

/**
 * Stores the findings of a comparison, the webhook deliveries about new ones, and the runs of rules. It is
 * safe to repeat. It does nothing when the deployment, or a rule about it, was deleted meanwhile.
 *
 * @returns the names of the applied rules
 */
export async function recordImpact(
  { pool }: Pooled,
  deployment: DueDeployment,
  impact: Impact,
  context: RuleContext,
): Promise<string[]> {
  try {
    return await inPoolTransaction(pool, async (client) => {
      const stored = await writeImpact(client, deployment, impact, context.now)
      const added = stored.filter(({ isNew }) => isNew)
      if (added.length > 0) {
        await enqueueForProject(client, deployment.projectId, 'deployment_impact', () =>
          impactDelivery(hookDeployment(deployment), added, context.externalUrl),
        )
      }
      if (stored.length === 0) return []
      const findings = stored.map(({ isNew: _, changePointAt: __, ...finding }) => finding)
      return applyRules(client, deployment, findings, context)
    })
  } catch (error) {
    if (sqlStateOf(error) !== sqlStates.foreignKeyViolation) throw error
    return []
  }
}

/**
 * Returns the saga metrics of each service of a deployment in each of its tenants, its queue metrics, and
 * what became worse.
 */
export async function findDeploymentImpact(
  comparison: Comparison,
  deployment: DueDeployment,
  now: Date,
): Promise<Impact> {
  const { database, settings } = comparison
  const moments = momentsOf(deployment, settings, now)
  const question = { moments, stuckAfterMs: settings.stuckAfterMs }
  const compared = await compareServices(database, deployment, question)
  const worse = compared.filter(({ findings }) => findings.length > 0)
  const tenants = await listCommonCauses(
    database,
    new Set(worse.map(({ metrics }) => metrics.tenant)),
    question,
  )
  const hasCommonCause = ({ metrics, findings }: Compared) =>
    metrics.commonCause || (findings.length > 0 && tenants.has(metrics.tenant))
  const queues = await compareQueuesIfKnown(comparison, deployment, moments)
  return {
    windowFrom: new Date(moments.from),
    startedAt: new Date(moments.startedAt),
    windowTo: new Date(moments.to),
    nextLookAt: nextLook(deployment.finishedAt, settings, now),
    services: compared.map((each) => ({ ...each.metrics, commonCause: hasCommonCause(each) })),
    queues: queues?.map(({ metrics }) => metrics) ?? null,
    findings: [
      ...worse.filter((each) => !hasCommonCause(each)).flatMap(datedFindings),
      ...(queues ?? []).flatMap(datedFindings),
    ],
  }
}

/** Returns the findings of a comparison with their service and tenant. */
const datedFindings = ({
  metrics: { service: serviceName, tenant = '' },
  findings,
}: {
  metrics: { service: string; tenant?: string }
  findings: readonly Finding[]
}): DatedFinding[] =>
  findings.map(({ changePoint, ...finding }) => ({
    ...finding,
    tenant,
    serviceName,
    changePointAt: new Date(changePoint),
  }))

/** Compares queues; null also while Redis does not answer, so that sagas are still compared. */
async function compareQueuesIfKnown(
  { database, redis, logger }: Comparison,
  deployment: DueDeployment,
  moments: Moments,
): Promise<ComparedQueues[] | null> {
  try {
    return await compareQueues({ database, redis }, deployment, moments)
  } catch (error) {
    const about = { project_id: deployment.projectId, deployment_id: deployment.id }
    logger.warn({ ...about, err: error }, 'could not compare the queues of a deployment')
    return null
  }
}

function momentsOf(
  { createdAt, finishedAt }: DueDeployment,
  { windowMinutes, sagasMin }: ImpactSettings,
  now: Date,
): Moments {
  const finished = finishedAt.getTime()
  const startedAt = Math.max(createdAt.getTime(), finished - rolloutMsMax)
  const windowMs = windowMinutes * minuteMs
  const to = Math.min(now.getTime(), finished + windowMs)
  return { from: startedAt - windowMs, startedAt, finishedAt: finished, to, sagasMin }
}

function nextLook(finishedAt: Date, { windowMinutes }: ImpactSettings, now: Date): Date | null {
  const looks = looksWithin(windowMinutes).map(
    (minutes) => new Date(finishedAt.getTime() + minutes * minuteMs),
  )
  return looks.find((look) => look > now) ?? null
}

type Question = Pick<HistoryQuestion, 'moments' | 'stuckAfterMs'>

interface Compared {
  /** Includes the common cause that an earlier comparison has found. */
  metrics: ServiceMetrics
  findings: Finding[]
}

async function compareServices(
  database: Database,
  { services, known }: DueDeployment,
  question: Question,
): Promise<Compared[]> {
  const { moments } = question
  const compared: Compared[] = []
  for (const serviceName of services)
    for (const tenant of await listTenants(database, serviceName, moments)) {
      const history = await readHistory(database, { ...question, tenant, serviceName })
      const before = known.find((each) => each.service === serviceName && each.tenant === tenant)
      const commonCause = before?.commonCause ?? false
      compared.push({
        metrics: { tenant, service: serviceName, ...metricsOf(history, moments), commonCause },
        findings: commonCause ? [] : findImpact(history, moments),
      })
    }
  return compared
}

/** Returns the tenants in which services that were not deployed became worse, too. */
async function listCommonCauses(
  database: Database,
  tenants: ReadonlySet<string>,
  question: Question,
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const tenant of tenants) if (await haveOthersWorsened(database, tenant, question)) found.add(tenant)
  return found
}

/**
 * Returns whether other services became worse. It reads the day before only for services that seem to have
 * become worse.
 */
async function haveOthersWorsened(database: Database, tenant: string, question: Question): Promise<boolean> {
  const { moments } = question
  const histories: ObservedHistory[] = []
  for (const serviceName of await listOthers(database, tenant, moments)) {
    const brief = await readBriefHistory(database, { ...question, tenant, serviceName })
    const seemsWorse = findImpact(brief, moments).length > 0
    histories.push(seemsWorse ? await readHistory(database, { ...question, tenant, serviceName }) : brief)
  }
  return isCommonCause(histories, moments)
}
