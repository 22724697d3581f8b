import type { Pooled } from '@switchyard/db'
import type { Moments, ObservedHistory, ObservedRun, Share } from '@switchyard/delivery-impact'
import { dayMs } from '@switchyard/domain'

const hourMs = 3_600_000
/** Time without a similar failure after which a failure counts as new. */
const forgottenMs = 14 * dayMs
/** Longest saga that counts, so that only sagas that began near the windows are read. */
const durationMsMax = dayMs
/**
 * Most sagas of a service that are read. Of more, random ones are read, so that rates, durations and times
 * stay as they are.
 */
const runsMax = 50_000
/** Most names that are searched; some of them have no saga in the windows. */
const namesMax = 1000
/** Most tenants of a service that are compared. */
const tenantsMax = 20
/** Most services that are compared although they were not deployed. */
const othersMax = 30

/** The service and the tenant whose sagas are read. */
export interface HistoryQuestion {
  tenant: string
  serviceName: string
  moments: Moments
  stuckAfterMs: number
}

const failed = `(s.status = 'Error' OR s.outcome IN ('compensated', 'inconsistent') OR s.resolved_at IS NOT NULL)`
const seconds = 'EXTRACT(epoch FROM s.ended_at - COALESCE(s.started_at, s.first_seen_at))::double precision'
/**
 * Includes sagas that waited and have ended since then, otherwise the later window would always have more of
 * them.
 */
const stuck = `(f.saga_id IS NOT NULL OR COALESCE(${seconds} > $5, false))`
/** Sagas `s` of a service that began in a time and ended, failed or wait, with their flag `f`. */
const sagasOfService = `sagas s LEFT JOIN saga_flags f ON s.ended_at IS NULL
      AND f.tenant = s.tenant AND f.kind = 'stuck' AND f.saga_id = s.id AND f.activity_id = ''`
const isCounted = `s.tenant = $1 AND s.service_name = $2 AND s.first_seen_at >= $3 AND s.first_seen_at < $4
    AND (s.ended_at IS NOT NULL OR f.saga_id IS NOT NULL OR ${failed})`

const runsOfService = {
  name: 'impact-runs',
  text: `SELECT at, failed, compensated, seconds, fingerprint, stuck FROM (SELECT * FROM (
      SELECT s.id, EXTRACT(epoch FROM COALESCE(e.failed_at, s.ended_at, s.last_event_at))::double precision * 1000 AS at,
        ${failed} AS failed, s.outcome IS NOT DISTINCT FROM 'compensated' AS compensated, ${seconds} AS seconds,
        e.fingerprint, ${stuck} AS stuck
      FROM ${sagasOfService}
      LEFT JOIN LATERAL (SELECT failed_at, fingerprint FROM saga_errors
        WHERE ${failed} AND tenant = s.tenant AND saga_id = s.id ORDER BY failed_at LIMIT 1) e ON true
      WHERE ${isCounted}) run
    WHERE at >= $6 ORDER BY hashtextextended(id, 0) LIMIT ${runsMax}) sample
    ORDER BY at`,
}

/** Hours are counted back from the deployment; 0 is the last one before it. */
const hoursOfService = {
  name: 'impact-hours',
  text: `SELECT hour, count(*)::int AS of, count(*) FILTER (WHERE failed)::int AS failed,
      count(*) FILTER (WHERE stuck)::int AS stuck
    FROM (SELECT floor(EXTRACT(epoch FROM $4::timestamptz - COALESCE(s.ended_at, s.last_event_at)) / 3600)::int AS hour,
        ${failed} AS failed, ${stuck} AS stuck
      FROM ${sagasOfService} WHERE ${isCounted}) run
    WHERE hour BETWEEN 0 AND 23 GROUP BY hour ORDER BY hour`,
}

/** Longest saga that is read of services that were not deployed. */
const briefMsMax = hourMs

/**
 * Reads what a service did from the beginning of the window before a deployment to the end of the window
 * after it.
 */
export async function readHistory(database: Pooled, question: HistoryQuestion): Promise<ObservedHistory> {
  const { tenant, moments } = question
  const [runs, hours] = await Promise.all([readRuns(database, question), readHours(database, question)])
  const fingerprints = new Set(runs.flatMap(({ fingerprint }) => fingerprint ?? []))
  const knownFingerprints = await findKnown(database, tenant, [...fingerprints], moments.startedAt)
  return { runs, hours, knownFingerprints, queues: [] }
}

/**
 * Like {@link readHistory}, but only with sagas of an hour at most and without the hours of the day before,
 * which is fast for many services.
 */
export async function readBriefHistory(
  database: Pooled,
  question: HistoryQuestion,
): Promise<ObservedHistory> {
  const runs = await readRuns(database, question, briefMsMax)
  return { runs, hours: { failed: [], stuck: [] }, knownFingerprints: new Set(), queues: [] }
}

async function readRuns(
  { pool }: Pooled,
  { tenant, serviceName, moments, stuckAfterMs }: HistoryQuestion,
  takingMsMax = durationMsMax,
): Promise<ObservedRun[]> {
  const { from, to } = moments
  const began = new Date(from - takingMsMax)
  const values = [tenant, serviceName, began, new Date(to), stuckAfterMs / 1000, from]
  const { rows } = await pool.query<ObservedRun>({ ...runsOfService, values })
  return rows
}

async function readHours({ pool }: Pooled, { tenant, serviceName, moments, stuckAfterMs }: HistoryQuestion) {
  const { startedAt } = moments
  const began = new Date(startedAt - dayMs - durationMsMax)
  const values = [tenant, serviceName, began, new Date(startedAt), stuckAfterMs / 1000]
  const { rows } = await pool.query<{ of: number; failed: number; stuck: number }>({
    ...hoursOfService,
    values,
  })
  const sharesOf = (measure: 'failed' | 'stuck') =>
    rows.map((hour): Share => ({ hits: hour[measure], of: hour.of }))
  return { failed: sharesOf('failed'), stuck: sharesOf('stuck') }
}

/** Finds the failures that any service of the tenant had in the fortnight before. */
async function findKnown({ pool }: Pooled, tenant: string, fingerprints: string[], startedAt: number) {
  const { rows } = await pool.query<{ fingerprint: string }>({
    name: 'impact-known-failures',
    text: `SELECT fingerprint FROM unnest($2::text[]) AS given (fingerprint) WHERE EXISTS (
      SELECT FROM saga_errors e WHERE e.tenant = $1 AND e.fingerprint = given.fingerprint
        AND e.first_seen_at >= $3 AND e.first_seen_at < $4 AND e.failed_at < $4)`,
    values: [tenant, fingerprints, new Date(startedAt - forgottenMs), new Date(startedAt)],
  })
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}

/** Finds the distinct names by jumping along an index, however many sagas each has. */
const distinct = (column: string, where: string) => `WITH RECURSIVE names AS (
    (SELECT ${column} AS name FROM sagas WHERE ${where} ORDER BY ${column} LIMIT 1)
    UNION ALL SELECT (SELECT ${column} FROM sagas WHERE ${where} AND ${column} > names.name ORDER BY ${column} LIMIT 1)
      FROM names WHERE names.name IS NOT NULL)
  SELECT name FROM (SELECT name FROM names LIMIT ${namesMax}) known WHERE name IS NOT NULL`

/** Lists tenants in which a service began sagas in the windows. */
export async function listTenants({ pool }: Pooled, serviceName: string, { from, to }: Moments) {
  const { rows } = await pool.query<{ name: string }>({
    name: 'impact-tenants',
    text: `${distinct('tenant', 'true')} AND EXISTS (SELECT FROM sagas s
      WHERE s.tenant = known.name AND s.service_name = $1 AND s.first_seen_at >= $2 AND s.first_seen_at < $3)
      ORDER BY name LIMIT ${tenantsMax}`,
    values: [serviceName, new Date(from), new Date(to)],
  })
  return rows.map(({ name }) => name)
}

/** Lists services of a tenant that began sagas in the windows and were not deployed in them. */
export async function listOthers({ pool }: Pooled, tenant: string, { from, to }: Moments) {
  const { rows } = await pool.query<{ name: string }>({
    name: 'impact-others',
    text: `${distinct('service_name', 'tenant = $1 AND service_name IS NOT NULL')} AND EXISTS (SELECT FROM sagas s
      WHERE s.tenant = $1 AND s.service_name = known.name AND s.first_seen_at >= $2 AND s.first_seen_at < $3)
      AND NOT EXISTS (SELECT FROM deployments d WHERE d.services <> '[]' AND d.finished_at >= $2
        AND d.created_at < $3 AND d.services ? known.name)
      ORDER BY name LIMIT ${othersMax}`,
    values: [tenant, new Date(from), new Date(to)],
  })
  return rows.map(({ name }) => name)
}
