import type { DeploymentFinding, DeploymentImpact, PoolClient, Pooled } from '@switchyard/db'
import {
  float,
  insertInto,
  integer,
  json,
  leaseEnd,
  leaseRows,
  omit,
  pick,
  queryOf,
  rowColumns,
  selectList,
  setToExcluded,
  text,
  time,
} from '@switchyard/db/sql'
import type { Measure, Moments, ServiceMetrics, ServiceQueues } from '@switchyard/delivery-impact'
import { dayMs } from '@switchyard/domain'
import type { DatedFinding } from '@switchyard/domain/deployment'
import type { ComparedDeployment } from './rules.js'

/** A deployment whose services have to be compared. */
export interface DueDeployment extends ComparedDeployment {
  createdAt: Date
  finishedAt: Date
  services: string[]
  /** The metrics of the last comparison. */
  known: ServiceMetrics[]
  knownQueues: ServiceQueues[]
}

interface DueQuestion {
  tiers: readonly string[]
  /** Deployments that ended before this time are no longer compared. */
  finishedAfter: Date
  /** Deployments that ended after this time are not compared yet. */
  finishedBefore: Date
  now: Date
  /** Deployments that are left out. */
  postponed: readonly DeploymentKey[]
  rowsMax: number
}

export interface DeploymentKey {
  projectId: number
  id: number
}

/**
 * Lists due deployments, those that have waited longest first. Projects take turns, so that none waits for
 * the many deployments of another.
 */
export async function listDue({ pool }: Pooled, question: DueQuestion): Promise<DueDeployment[]> {
  const { tiers, finishedAfter, finishedBefore, now, postponed, rowsMax } = question
  const { rows } = await pool.query<DueDeployment>({
    name: 'impact-due',
    text: `SELECT d.project_id AS "projectId", d.id, d.iid, d.sha, d.ref, d.environment_id AS "environmentId",
        json_build_object('name', e.name, 'tier', e.tier) AS environment,
        p.path_with_namespace AS "pathWithNamespace", d.created_at AS "createdAt", d.finished_at AS "finishedAt",
        d.services, COALESCE(i.services, '[]') AS known, COALESCE(i.queues, '[]') AS "knownQueues"
      FROM deployments d
      JOIN projects p ON p.id = d.project_id
      JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id AND e.tier = ANY ($1)
      LEFT JOIN deployment_impacts i ON i.project_id = d.project_id AND i.deployment_id = d.id
      WHERE d.services <> '[]' AND d.finished_at > $2 AND d.finished_at <= $3 AND d.status IN ('success', 'failed')
        AND (i.deployment_id IS NULL OR i.next_look_at <= $4)
        AND (d.project_id, d.id) NOT IN (SELECT * FROM unnest($6::integer[], $7::bigint[]))
      ORDER BY row_number() OVER (PARTITION BY d.project_id ORDER BY COALESCE(i.next_look_at, d.finished_at), d.id),
        COALESCE(i.next_look_at, d.finished_at), d.project_id, d.id LIMIT $5`,
    values: [
      tiers,
      finishedAfter,
      finishedBefore,
      now,
      rowsMax,
      postponed.map(({ projectId }) => projectId),
      postponed.map(({ id }) => id),
    ],
  })
  return rows
}

/** Lists the names of services that were deployed in the windows. */
export async function listDeployedServices({ pool }: Pooled, { from, to }: Moments): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'impact-deployed-services',
    text: `SELECT DISTINCT name FROM deployments d, jsonb_array_elements_text(d.services) AS name
      WHERE d.services <> '[]' AND d.finished_at >= $1 AND d.created_at < $2`,
    values: [new Date(from), new Date(to)],
  })
  return rows.map(({ name }) => name)
}

export interface Impact {
  windowFrom: Date
  startedAt: Date
  windowTo: Date
  /** Null: the window is over. */
  nextLookAt: Date | null
  services: ServiceMetrics[]
  /** Null: the history of queues could not be read, or does not cover this time. */
  queues: ServiceQueues[] | null
  findings: DatedFinding[]
}

type ImpactRow = Omit<DeploymentImpact, 'services' | 'queues'> & Pick<Impact, 'services' | 'queues'>

const impacts = rowColumns<ImpactRow>({
  projectId: integer('project_id'),
  deploymentId: integer('deployment_id'),
  windowFrom: time('window_from'),
  startedAt: time('started_at'),
  windowTo: time('window_to'),
  nextLookAt: time('next_look_at'),
  services: json('services'),
  queues: json('queues'),
})

const insertImpact = insertInto(
  'impact-write',
  'deployment_impacts',
  impacts,
  `ON CONFLICT (project_id, deployment_id) DO UPDATE SET
    ${setToExcluded(omit(impacts, 'projectId', 'deploymentId', 'queues'))},
    queues = COALESCE(EXCLUDED.queues, stored.queues)`,
)

type FindingRow = Omit<DeploymentFinding, 'id' | 'recoveredAt' | 'dueAt'>

const findings = rowColumns<FindingRow>({
  projectId: integer('project_id'),
  deploymentId: integer('deployment_id'),
  tenant: text('tenant'),
  serviceName: text('service_name'),
  measure: text('measure'),
  fingerprint: text('fingerprint'),
  before: float('before'),
  after: float('after'),
  samplesBefore: integer('samples_before'),
  samplesAfter: integer('samples_after'),
  pValue: float('chance'),
  changePointAt: time('onset_at'),
  foundAt: time('found_at'),
})

const compared = pick(findings, 'before', 'after', 'samplesBefore', 'samplesAfter', 'pValue', 'changePointAt')

/**
 * Inserts findings. A finding stays even when a later comparison does not find it again, because its cause
 * may have ended.
 */
const insertFindings = insertInto(
  'impact-write-findings',
  'deployment_findings',
  findings,
  `ON CONFLICT (project_id, deployment_id, tenant, service_name, measure, fingerprint) DO UPDATE SET
    ${setToExcluded(compared)}
  RETURNING ${selectList('stored', omit(findings, 'projectId', 'deploymentId', 'foundAt'))},
    stored.xmax = 0 AS "isNew"`,
)

/** A stored finding, and whether it is new. */
export type StoredFinding = DatedFinding & { isNew: boolean }

/** @returns all findings, including those of earlier comparisons */
export async function writeImpact(
  client: PoolClient,
  { projectId, id: deploymentId }: Pick<DueDeployment, 'projectId' | 'id'>,
  { findings: found, ...impact }: Impact,
  foundAt: Date,
): Promise<StoredFinding[]> {
  const rows = found.map((finding): FindingRow => ({ ...finding, foundAt, projectId, deploymentId }))
  await client.query(queryOf(insertImpact, [{ ...impact, projectId, deploymentId }]))
  const { rows: stored } = await client.query<StoredFinding>(queryOf(insertFindings, rows))
  return stored
}

/** Time between two checks of an unresolved finding. */
const againInMs = 5 * 60_000
/** Time after which a figure that has not recovered counts as normal: a later deployment ends the failure. */
const lastingMsMax = 7 * dayMs
/** Most findings that one run checks. */
const claimedMax = 50

/** A finding whose figure has not recovered so far. */
export interface OpenFinding
  extends Omit<DatedFinding, 'measure' | 'samplesBefore' | 'samplesAfter' | 'pValue'> {
  projectId: number
  id: string
  measure: Measure
}

const claimed = omit(findings, 'deploymentId', 'samplesBefore', 'samplesAfter', 'pValue', 'foundAt')

const claim = {
  name: 'claim-open-findings',
  text: leaseRows({
    table: 'deployment_findings',
    keys: ['project_id', 'id'],
    free: `leased.recovered_at IS NULL AND leased.onset_at > $3::timestamptz
      AND (leased.look_at IS NULL OR leased.look_at <= now())`,
    order: 'leased.look_at NULLS FIRST, leased.onset_at',
    set: `look_at = ${leaseEnd('$2')}`,
    select: `SELECT leased.id, ${selectList('leased', claimed)} FROM leased`,
  }),
}

/** Claims findings that were not checked for a while, so that only one process checks each. */
export async function claimOpenFindings({ pool }: Pooled, now: Date): Promise<OpenFinding[]> {
  const { rows } = await pool.query<OpenFinding>({
    ...claim,
    values: [claimedMax, againInMs, new Date(now.getTime() - lastingMsMax)],
  })
  return rows
}

/** Stores the time since which the figure of a finding has recovered. */
export const recordRecovery = ({ pool }: Pooled, { projectId, id }: OpenFinding, recoveredAt: Date) =>
  pool.query({
    name: 'record-recovery',
    text: 'UPDATE deployment_findings SET recovered_at = $3 WHERE project_id = $1 AND id = $2',
    values: [projectId, id, recoveredAt],
  })
