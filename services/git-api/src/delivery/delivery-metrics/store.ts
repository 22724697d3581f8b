import type { DatabaseOrTransaction, Pooled, Project, Rows } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { isFailure, withFailureTimes, withReasons } from '../change-failures/store.js'
import { projectsWithReadableDeployments } from '../environments/store.js'

/** Conditions on deployments; a deployment must meet all of them. */
export interface MetricScope {
  projectIds: readonly number[]
  /** From this time, inclusive, until `to`, exclusive. */
  from: Date
  to: Date
  /** Tiers of the environments; null: every tier. */
  tiers: readonly string[] | null
  /** Name of the environment; null: every environment. */
  environment: string | null
  /** Tenants whose findings count; null: every tenant. */
  tenants: readonly string[] | null
}

/**
 * The subject of a value, which is its key: a day, a week by its Monday, a month by its first day, the whole
 * time, or a project by its id.
 */
export type Grouping = 'daily' | 'weekly' | 'monthly' | 'all' | 'project'

/** The values of a metric by their keys. */
export type MetricValues = ReadonlyMap<string, number>

const keys: Record<Grouping, (time: string) => string> = {
  daily: (time) => `(${time} AT TIME ZONE 'UTC')::date::text`,
  weekly: (time) => `date_trunc('week', ${time} AT TIME ZONE 'UTC')::date::text`,
  monthly: (time) => `date_trunc('month', ${time} AT TIME ZONE 'UTC')::date::text`,
  all: () => `'all'`,
  project: () => 'project_id::text',
}

const valuesOf = ({ projectIds, from, to, tiers, environment }: MetricScope) => [
  projectIds,
  from,
  to,
  tiers,
  environment,
]

const withEnvironment = `deployments d JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
  AND ($4::text[] IS NULL OR e.tier = ANY ($4)) AND ($5::text IS NULL OR e.name = $5)`

const succeeded = `d.project_id = ANY ($1) AND d.finished_at >= $2 AND d.finished_at < $3 AND d.status = 'success'`

async function readValues(
  { pool }: Pooled,
  query: { name: string; text: string; values: unknown[] },
): Promise<MetricValues> {
  const { rows } = await pool.query<{ key: string; value: number }>(query)
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Counts the deployments that ended with success. */
export const countDeployments = (database: Pooled, scope: MetricScope, grouping: Grouping) =>
  readValues(database, {
    name: `deployment-frequency-${grouping}`,
    text: `SELECT ${keys[grouping]('finished_at')} AS key, count(*)::int AS value
      FROM (SELECT d.project_id, d.finished_at FROM ${withEnvironment} WHERE ${succeeded}) deployed GROUP BY 1`,
    values: valuesOf(scope),
  })

/**
 * Returns the median seconds from the author date of a commit to the end of the deployment that shipped it.
 */
export const listLeadTimes = (database: Pooled, scope: MetricScope, grouping: Grouping) =>
  readValues(database, {
    name: `lead-time-${grouping}`,
    // A deployment with many commits stores a sample of lead times, so each one counts for several commits.
    text: `WITH brought AS MATERIALIZED (
        SELECT (${keys[grouping]('finished_at')}) COLLATE "C" AS key, commits, lead_seconds
        FROM (SELECT d.project_id, d.finished_at, c.commits, c.lead_seconds FROM ${withEnvironment}
          JOIN deployment_changes c ON c.project_id = d.project_id AND c.deployment_id = d.id AND c.commits > 0
          WHERE ${succeeded}) deployed),
      ranked AS (
        SELECT key, seconds, sum(commits::float8 / cardinality(lead_seconds))
          OVER (PARTITION BY key ORDER BY seconds ROWS UNBOUNDED PRECEDING) AS reached
        FROM brought CROSS JOIN unnest(lead_seconds) AS seconds),
      counted AS (SELECT key, sum(commits) AS commits FROM brought GROUP BY key)
      SELECT key, min(seconds) AS value FROM ranked JOIN counted USING (key) WHERE reached * 2 >= commits GROUP BY key`,
    values: valuesOf(scope),
  })

/** Returns the share of failures among the deployments that ended with success or are failures. */
export const listFailureRates = (database: Pooled, scope: MetricScope, grouping: Grouping) =>
  readValues(database, {
    name: `change-failure-rate-${grouping}`,
    text: `WITH ended AS (${withReasons(
      withEnvironment,
      'd.project_id = ANY ($1) AND d.finished_at >= $2 AND d.finished_at < $3',
      '$6',
    )})
      SELECT ${keys[grouping]('finished_at')} AS key, (count(*) FILTER (WHERE ${isFailure}))::float8 / count(*) AS value
      FROM ended WHERE status = 'success' OR ${isFailure} GROUP BY 1`,
    values: [...valuesOf(scope), scope.tenants],
  })

/** Restored failures count when their deployment ended at most this long before the requested time. */
const failuresBefore = "interval '90 days'"

/** Returns the median duration in seconds of failures that have ended, by the time at which they ended. */
export const listRestoreTimes = (database: Pooled, scope: MetricScope, grouping: Grouping) =>
  readValues(database, {
    name: `time-to-restore-${grouping}`,
    text: `WITH ended AS (${withFailureTimes(
      withReasons(
        withEnvironment,
        `d.project_id = ANY ($1) AND d.finished_at >= $2::timestamptz - ${failuresBefore} AND d.finished_at < $3`,
        '$6',
      ),
    )})
      SELECT ${keys[grouping]('restored_at')} AS key,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM restored_at - failed_at)::float8) AS value
      FROM ended WHERE ${isFailure} AND restored_at >= $2 AND restored_at < $3 GROUP BY 1`,
    values: [...valuesOf(scope), scope.tenants],
  })

/** Lists the projects by path that were deployed with success and whose deployments the caller may read. */
export async function listDeployedProjects(
  { prisma }: DatabaseOrTransaction,
  caller: Caller,
  { from, to, tiers }: Pick<MetricScope, 'from' | 'to'> & { tiers: readonly string[] },
  rows: Rows,
): Promise<{ projects: Pick<Project, 'id' | 'pathWithNamespace'>[]; total: number }> {
  const deployed = {
    status: 'success',
    finishedAt: { gte: from, lt: to },
    environment: { tier: { in: [...tiers] } },
  }
  const where = { ...projectsWithReadableDeployments(caller), deployments: { some: deployed } }
  const [projects, total] = await Promise.all([
    prisma.project.findMany({
      where,
      select: { id: true, pathWithNamespace: true },
      orderBy: { pathWithNamespace: 'asc' },
      ...rows,
    }),
    prisma.project.count({ where }),
  ])
  return { projects, total }
}

/** Lists the projects that were deployed with success, those with the most deployments first. */
export async function listBusiestProjects(
  { pool }: Pooled,
  { from, to, tiers, rowsMax }: Pick<MetricScope, 'from' | 'to' | 'tiers'> & { rowsMax: number },
): Promise<Pick<Project, 'id' | 'pathWithNamespace'>[]> {
  const { rows } = await pool.query<Pick<Project, 'id' | 'pathWithNamespace'>>({
    name: 'busiest-projects',
    text: `SELECT p.id, p.path_with_namespace AS "pathWithNamespace"
      FROM (SELECT d.project_id, count(*) AS deployments
          FROM deployments d JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
          WHERE d.status = 'success' AND d.finished_at >= $1 AND d.finished_at < $2 AND e.tier = ANY ($3)
          GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $4) busiest
        JOIN projects p ON p.id = busiest.project_id
      ORDER BY busiest.deployments DESC, p.id`,
    values: [from, to, tiers, rowsMax],
  })
  return rows
}
