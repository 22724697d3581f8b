import type { Database } from '@switchyard/db'
import { type Measure, recoveryOf, type ServiceHistory } from '@switchyard/delivery-impact'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Redis } from 'ioredis'
import type { ImpactSettings } from '../impact-config.js'
import { claimOpenFindings, type OpenFinding, recordRecovery } from './impact-store.js'
import { groupsOfServices, readQueues } from './queue-history.js'
import { readBriefHistory } from './saga-history-store.js'

const minuteMs = 60_000
/** Time before which ended sagas and samples of queues are not read. */
const historyMs = 120 * minuteMs

type Known = Pick<ServiceHistory, 'runs' | 'queues'>

/** Stores when the figures of earlier findings returned to their former level. */
export async function noteRecoveries(
  { database, redis }: { database: Database; redis: Redis },
  { sagasMin, stuckAfterMs }: Pick<ImpactSettings, 'sagasMin' | 'stuckAfterMs'>,
  { now, signal, logger }: { now: Date; signal: AbortSignal; logger: Logger },
): Promise<void> {
  if (signal.aborted) return
  const [from, to] = [now.getTime() - historyMs, now.getTime()]
  const moments = { from, startedAt: from, finishedAt: from, to, sagasMin }
  const readHistory = async ({ measure, tenant, serviceName }: OpenFinding): Promise<Known> => {
    if (!isOfQueues(measure)) {
      const { runs } = await readBriefHistory(database, { tenant, serviceName, moments, stuckAfterMs })
      return { runs, queues: [] }
    }
    const groupsOf = groupsOfServices([serviceName])
    // Without Redis, the state of queues is unknown, and a later check decides.
    const read = await readQueues(redis, { groupsOf, fromMs: from, toMs: to }).catch(() => null)
    return { runs: [], queues: read?.groups.get(serviceName) ?? [] }
  }
  // The runs of a service are read once, also when that fails, because it often has several findings.
  const known = new Map<string, Promise<Known>>()
  for (const finding of await claimOpenFindings(database, now)) {
    if (signal.aborted) return
    try {
      const key = JSON.stringify([finding.tenant, finding.serviceName])
      const history = known.get(key) ?? readHistory(finding)
      known.set(key, history)
      const risen = { ...finding, changePoint: finding.changePointAt.getTime() }
      const recovered = recoveryOf(risen, await history, { from, now: to, sagasMin })
      if (recovered !== null) await recordRecovery(database, finding, new Date(recovered))
    } catch (error) {
      const { projectId, id } = finding
      logger.warn({ err: error, project_id: projectId, finding_id: id }, 'could not check a finding again')
    }
  }
}

const isOfQueues = (measure: Measure) => measure === 'queue_latency' || measure === 'failed_jobs'
