import type { Database, Pooled } from '@switchyard/db'
import { type Finding, recoveryOf, type ServiceHistory } from '@switchyard/delivery-impact'
import type { Redis } from 'ioredis'
import type { ImpactSettings } from '../impact-config.js'
import { groupsOfServices, readQueues } from './queue-history.js'
import { readBriefHistory } from './saga-history.js'

const minuteMs = 60_000
/** Time between two looks at a finding that lasts. */
const againInMs = 5 * minuteMs
/** A figure that is not back after this time is the usual one by now: a later deployment ends the failure. */
const lastingMsMax = 7 * 24 * 60 * minuteMs
/** Findings that one run looks at. */
const rowsMax = 50
/** Sagas that ended earlier, and earlier samples of queues, are not read. */
const historyMs = 120 * minuteMs

/** A finding whose figure is not back, as far as is known. */
interface OpenFinding extends Pick<Finding, 'measure' | 'before' | 'after'> {
  projectId: number
  id: string
  tenant: string
  service: string
  fingerprint: string
  onsetAt: Date
}

async function claimOpen({ pool }: Pooled, now: Date): Promise<OpenFinding[]> {
  const { rows } = await pool.query<OpenFinding>({
    name: 'claim-open-findings',
    text: `UPDATE deployment_findings f SET look_at = $1::timestamptz + $2 * interval '1 ms'
      WHERE (f.project_id, f.id) IN (
        SELECT project_id, id FROM deployment_findings
        WHERE recovered_at IS NULL AND onset_at > $1::timestamptz - $3 * interval '1 ms'
          AND (look_at IS NULL OR look_at <= $1)
        ORDER BY look_at NULLS FIRST, onset_at LIMIT $4)
      RETURNING f.project_id AS "projectId", f.id, f.tenant, f.service_name AS service, f.measure, f.fingerprint,
        f.before, f.after, f.onset_at AS "onsetAt"`,
    values: [now, againInMs, lastingMsMax, rowsMax],
  })
  return rows
}

type Known = Pick<ServiceHistory, 'runs' | 'queues'>

/** Notes when the figures of earlier findings were back where they were before. */
export async function noteRecoveries(
  { database, redis }: { database: Database; redis: Redis },
  { sagasMin, stuckAfterMs }: Pick<ImpactSettings, 'sagasMin' | 'stuckAfterMs'>,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  const [from, to] = [now.getTime() - historyMs, now.getTime()]
  const moments = { from, startedAt: from, finishedAt: from, to, sagasMin }
  const readHistory = async ({ measure, tenant, service }: OpenFinding): Promise<Known> => {
    if (!isOfQueues(measure)) {
      const { runs } = await readBriefHistory(database, { tenant, service, moments, stuckAfterMs })
      return { runs, queues: [] }
    }
    const groupsOf = groupsOfServices([service])
    // While Redis is away, nothing is known of queues, and a later look tells.
    const read = await readQueues(redis, { groupsOf, fromMs: from, toMs: to }).catch(() => null)
    return { runs: [], queues: read?.groups.get(service) ?? [] }
  }
  // A service often has several findings.
  const known = new Map<string, Known>()
  for (const finding of await claimOpen(database, now)) {
    if (signal.aborted) return
    const key = JSON.stringify([finding.tenant, finding.service])
    const history = known.get(key) ?? (await readHistory(finding))
    known.set(key, history)
    const risen = { ...finding, onset: finding.onsetAt.getTime() }
    const recovered = recoveryOf(risen, history, { from, now: to, sagasMin })
    if (recovered !== null) await recordRecovery(database, finding, new Date(recovered))
  }
}

const isOfQueues = (measure: Finding['measure']) => measure === 'queue_latency' || measure === 'failed_jobs'

const recordRecovery = ({ pool }: Pooled, { projectId, id }: OpenFinding, recoveredAt: Date) =>
  pool.query({
    name: 'record-recovery',
    text: 'UPDATE deployment_findings SET recovered_at = $3 WHERE project_id = $1 AND id = $2',
    values: [projectId, id, recoveredAt],
  })
