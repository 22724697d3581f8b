import type { Database } from '@switchyard/db'
import {
  type Finding,
  findImpact,
  isCommonCause,
  type Moments,
  type QueueSample,
  queueMetricsOf,
  type ServiceHistory,
  type ServiceQueues,
} from '@switchyard/delivery-impact'
import { dayMs } from '@switchyard/domain'
import type { Redis } from 'ioredis'
import { type DueDeployment, listDeployedServices } from './impact-store.js'
import { groupsOfOthers, groupsOfServices, readQueues } from './queue-history.js'

export interface ComparedQueues {
  metrics: ServiceQueues
  findings: Finding[]
}

/**
 * Compares the queues of each service of a deployment before and after it, and returns what became worse.
 * Null when the history of queues does not cover this time.
 *
 * @throws Error when Redis does not answer
 */
export async function compareQueues(
  { database, redis }: { database: Database; redis: Redis },
  { services, knownQueues }: Pick<DueDeployment, 'services' | 'knownQueues'>,
  moments: Moments,
): Promise<ComparedQueues[] | null> {
  const { from, to } = moments
  const windows = await readQueues(redis, { fromMs: from, toMs: to, groupsOf: groupsOfServices(services) })
  if (!windows.isKnown) return null
  const worse = await findWorse(redis, windows.groups, moments)
  const isCommon =
    worse.size > 0 &&
    (await haveOthersWorsened(redis, await listDeployedServices(database, moments), moments))
  return [...windows.groups].map(([serviceName, samples]) => {
    const findings = worse.get(serviceName) ?? []
    // Findings of an earlier comparison stay.
    const wasCommon = knownQueues.some((known) => known.service === serviceName && known.commonCause)
    const commonCause = wasCommon || (findings.length > 0 && isCommon)
    const metrics = { service: serviceName, ...queueMetricsOf(samples, moments), commonCause }
    return { metrics, findings: commonCause ? [] : findings }
  })
}

/**
 * Finds the services whose queues became worse. It reads the day before only for services that seem to have
 * become worse.
 */
async function findWorse(
  redis: Redis,
  windows: ReadonlyMap<string, QueueSample[]>,
  moments: Moments,
): Promise<Map<string, Finding[]>> {
  const seemWorse = [...windows].filter(([, samples]) => findImpact(historyOf(samples), moments).length > 0)
  if (seemWorse.length === 0) return new Map()
  const day = await readQueues(redis, {
    fromMs: moments.startedAt - dayMs,
    toMs: moments.to,
    groupsOf: groupsOfServices(seemWorse.map(([serviceName]) => serviceName)),
  })
  const found = [...day.groups].map(([serviceName, samples]) => {
    return [serviceName, findImpact(historyOf(samples), moments)] as const
  })
  return new Map(found.filter(([, findings]) => findings.length > 0))
}

/** Returns whether queues of services that were not deployed became worse at the same moment. */
async function haveOthersWorsened(
  redis: Redis,
  deployed: readonly string[],
  moments: Moments,
): Promise<boolean> {
  const { from, to } = moments
  const { groups } = await readQueues(redis, {
    fromMs: from,
    toMs: to,
    groupsOf: groupsOfOthers(deployed),
  })
  return isCommonCause([...groups.values()].map(historyOf), moments)
}

const historyOf = (queues: readonly QueueSample[]): ServiceHistory => ({
  queues,
  runs: [],
  hours: { failed: [], stuck: [] },
  knownFingerprints: new Set(),
})
