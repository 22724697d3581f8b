import {
  type Finding,
  figuresOf,
  findImpact,
  isCommonCause,
  looksWithin,
  type Moments,
  type ObservedHistory,
  type ServiceFigures,
} from '@switchyard/delivery-impact'
import type { Logger } from '@switchyard/service-kit/observability'
import { withSweepHeld } from '../hold-sweep.js'
import type { ImpactSettings } from '../impact-config.js'
import { type JobDependencies, jobType } from '../job-type.js'
import {
  type DueDeployment,
  type Impact,
  listDue,
  recordImpact,
  type ServiceFinding,
} from './impact-store.js'
import {
  type HistoryQuestion,
  listOthers,
  listTenants,
  readBriefHistory,
  readHistory,
} from './saga-history.js'

const minuteMs = 60_000
const timeoutMs = 2 * minuteMs
/** Deployments that one run compares at most. */
const deploymentsMax = 50
/** A deployment that took longer waited for something, such as an approval: it began so long before its end. */
const rolloutMsMax = 30 * minuteMs
/** What could not be compared for so long after the window is never compared. */
const missedMsMax = 24 * 60 * minuteMs

type Dependencies = Pick<JobDependencies, 'database' | 'clock' | 'impact' | 'webhooks'>

/**
 * Compares the services of finished deployments before and after them, while the window after each of them grows, and stores what
 * became worse. A run that is interrupted leaves the rest to the next one.
 */
export const deploymentImpact = ({ database, clock, impact: settings, webhooks }: Dependencies) =>
  jobType({
    queue: 'deployment-impact',
    concurrency: 1,
    timeoutMs,
    schedule: { everyMs: 10_000, atStart: true, attempts: 1, retryDelayMs: 1000 },
    run: (_payload, { signal, logger }) =>
      withSweepHeld(database, 'deployment-impact', timeoutMs, async () => {
        for (const deployment of await listDueDeployments(database, settings, clock())) {
          if (signal.aborted) break
          const comparison = { database, settings, logger, externalUrl: webhooks.externalUrl }
          await compareDeployment(comparison, deployment, clock())
        }
      }),
  })

const listDueDeployments = (
  database: JobDependencies['database'],
  { tiers, windowMinutes }: ImpactSettings,
  now: Date,
) => {
  const [firstLook = 0] = looksWithin(windowMinutes)
  return listDue(database, {
    tiers,
    finishedAfter: new Date(now.getTime() - windowMinutes * minuteMs - missedMsMax),
    finishedBefore: new Date(now.getTime() - firstLook * minuteMs),
    now,
    rowsMax: deploymentsMax,
  })
}

interface Comparison extends Pick<JobDependencies, 'database'> {
  settings: ImpactSettings
  logger: Logger
  /** Base of links in payloads of webhooks. */
  externalUrl: string | undefined
}

/** One that fails does not keep the others waiting: the next run tries it again. */
async function compareDeployment(
  comparison: Comparison,
  deployment: DueDeployment,
  now: Date,
): Promise<void> {
  const { database, settings, logger, externalUrl } = comparison
  const about = { project_id: deployment.projectId, deployment_id: deployment.id }
  try {
    const impact = await findDeploymentImpact(database, settings, deployment, now)
    await recordImpact(database, deployment, impact, { foundAt: now, externalUrl })
    if (impact.findings.length > 0)
      logger.info({ ...about, findings: impact.findings.length }, 'services became worse with a deployment')
  } catch (error) {
    logger.warn({ ...about, err: error }, 'could not compare the services of a deployment')
  }
}

/** The figures of each service of a deployment in each of its tenants, and what became worse. */
export async function findDeploymentImpact(
  database: JobDependencies['database'],
  settings: ImpactSettings,
  deployment: DueDeployment,
  now: Date,
): Promise<Impact> {
  const moments = momentsOf(deployment, settings, now)
  const services: ServiceFigures[] = []
  const findings: ServiceFinding[] = []
  for (const service of deployment.services)
    for (const tenant of await listTenants(database, service, moments)) {
      const before = deployment.known.find((each) => each.service === service && each.tenant === tenant)
      const compared = await compareService({ database, settings, moments }, { service, tenant }, before)
      services.push(compared.figures)
      findings.push(...compared.findings.map((finding) => ({ ...finding, service, tenant })))
    }
  const { from, startedAt, to } = moments
  return {
    windowFrom: new Date(from),
    startedAt: new Date(startedAt),
    windowTo: new Date(to),
    nextLookAt: nextLook(deployment.finishedAt, settings, now),
    services,
    findings,
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

interface Place {
  service: string
  tenant: string
}

interface Compared {
  figures: ServiceFigures
  findings: Finding[]
}

async function compareService(
  {
    database,
    settings,
    moments,
  }: { database: Comparison['database'] } & {
    settings: ImpactSettings
    moments: Moments
  },
  { service, tenant }: Place,
  before: ServiceFigures | undefined,
): Promise<Compared> {
  const question = { moments, stuckAfterMs: settings.stuckAfterMs }
  const history = await readHistory(database, { ...question, tenant, service })
  const findings = before?.commonCause ? [] : findImpact(history, moments)
  let commonCause = before?.commonCause ?? false
  if (findings.length > 0) commonCause = await haveOthersWorsened(database, tenant, question)
  const figures = { tenant, service, ...figuresOf(history, moments), commonCause }
  return { figures, findings: commonCause ? [] : findings }
}

/** Whether services of the tenant that were not deployed became worse, too. The day before is read only of those that seem to be. */
async function haveOthersWorsened(
  database: Comparison['database'],
  tenant: string,
  question: Pick<HistoryQuestion, 'moments' | 'stuckAfterMs'>,
): Promise<boolean> {
  const { moments } = question
  const histories: ObservedHistory[] = []
  for (const service of await listOthers(database, tenant, moments)) {
    const brief = await readBriefHistory(database, { ...question, tenant, service })
    const seemsWorse = findImpact(brief, moments).length > 0
    histories.push(seemsWorse ? await readHistory(database, { ...question, tenant, service }) : brief)
  }
  return isCommonCause(histories, moments)
}
