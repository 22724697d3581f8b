import type { Database, Project, Rows } from '@switchyard/db'
import { dayMs, invalid } from '@switchyard/domain'
import { boundTenantsOf, type Caller, startOfDay } from '@switchyard/domain/access'
import type { ProjectCall } from '../../guards.js'
import {
  countDeployments,
  type Grouping,
  listBusiestProjects,
  listDeployedProjects,
  listFailureRates,
  listLeadTimes,
  listRestoreTimes,
  type MetricScope,
  type MetricValues,
} from './store.js'

const queries = {
  deployment_frequency: countDeployments,
  lead_time_for_changes: listLeadTimes,
  time_to_restore_service: listRestoreTimes,
  change_failure_rate: listFailureRates,
} satisfies Record<
  string,
  (database: Database, scope: MetricScope, grouping: Grouping) => Promise<MetricValues>
>

export type Metric = keyof typeof queries
export const metrics = Object.keys(queries) as [Metric, ...Metric[]]

export const intervals = ['daily', 'weekly', 'monthly', 'all'] as const
export type Interval = (typeof intervals)[number]

/** Most days between the first and the last day of a query about one project, and about many. */
const spanDaysMax = 366
const spanDaysOfManyMax = 92

export interface Days {
  /** Undefined: three months before the end. */
  startDate: Date | undefined
  /** Start of the last day. Undefined: today. */
  endDate: Date | undefined
}

/** @throws DomainError invalid for days in the wrong order, and for too many of them */
export function spanOf(
  { startDate, endDate }: Days,
  now: Date,
  daysMax = spanDaysMax,
): Pick<MetricScope, 'from' | 'to'> {
  const last = endDate ?? startOfDay(now)
  const from = startDate ?? monthsBefore(last, 3)
  if (from > last) throw invalid('The start date must not be later than the end date.')
  if (last.getTime() - from.getTime() > daysMax * dayMs)
    throw invalid(`Date range must not be longer than ${daysMax} days.`)
  return { from, to: new Date(last.getTime() + dayMs) }
}

function monthsBefore(day: Date, months: number): Date {
  const moved = new Date(day)
  moved.setUTCMonth(day.getUTCMonth() - months)
  // A day such as 31 May has no equal three months before: the last day of that month is used.
  if (moved.getUTCDate() !== day.getUTCDate()) moved.setUTCDate(0)
  return moved
}

const dayText = (time: Date) => time.toISOString().slice(0, 10)

/** Returns the key of the interval that contains a day. */
const keyOf: Record<Exclude<Interval, 'all'>, (day: Date) => string> = {
  daily: dayText,
  weekly: (day) => dayText(new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * dayMs)),
  monthly: (day) => `${dayText(day).slice(0, 8)}01`,
}

/** One value of a metric. */
export interface MetricPoint {
  /**
   * First day of the interval, which may be before the first requested day. Null: the value is about all
   * days.
   */
  date: string | null
  /** Null: there was no data for the value. */
  value: number | null
}

/** Returns a point for every interval, including those without deployments. */
export function pointsOf(
  values: MetricValues,
  metric: Metric,
  interval: Interval,
  { from, to }: Pick<MetricScope, 'from' | 'to'>,
): MetricPoint[] {
  const valueAt = (key: string) => values.get(key) ?? (metric === 'deployment_frequency' ? 0 : null)
  if (interval === 'all') return [{ date: null, value: valueAt('all') }]
  const dates = new Set<string>()
  for (let day = from; day < to; day = new Date(day.getTime() + dayMs)) dates.add(keyOf[interval](day))
  return [...dates].map((date) => ({ date, value: valueAt(date) }))
}

/** A metric, and the selected deployments of a project. */
export interface MetricQuestion {
  metric: Metric
  tiers: readonly string[] | null
  environment: string | undefined
}

/** @throws DomainError invalid for days in the wrong order, and for too many of them */
export const readMetric = async (
  database: Database,
  access: ProjectCall<Caller>,
  { interval, startDate, endDate, ...question }: MetricQuestion & Days & { interval: Interval },
  now: Date,
): Promise<MetricPoint[]> =>
  readPoints(database, access, question, interval, spanOf({ startDate, endDate }, now))

const latestDays = 28

/** Returns the last four weeks including today. */
const latestSpan = (now: Date) => {
  const to = new Date(startOfDay(now).getTime() + dayMs)
  return { from: new Date(to.getTime() - latestDays * dayMs), to }
}

/** Returns a metric over the last four weeks; null: there was no data for it. */
export async function readLatest(
  database: Database,
  access: ProjectCall<Caller>,
  question: MetricQuestion,
  now: Date,
): Promise<number | null> {
  const [point] = await readPoints(database, access, question, 'all', latestSpan(now))
  return point?.value ?? null
}

async function readPoints(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  { metric, tiers, environment }: MetricQuestion,
  interval: Interval,
  span: Pick<MetricScope, 'from' | 'to'>,
): Promise<MetricPoint[]> {
  const scope = {
    ...span,
    projectIds: [project.id],
    tiers,
    environment: environment ?? null,
    tenants: boundTenantsOf(caller),
  }
  return pointsOf(await queries[metric](database, scope, interval), metric, interval, span)
}

/** Most projects whose metrics are shown by name. */
const namedMax = 50
/** Most further projects, whose metrics are shown together. */
const othersMax = 10_000

/**
 * Returns the four metrics of production over the last four weeks by project path: of the projects with the
 * most deployments, and of all others together as `other`.
 */
export async function readLatestOfProjects(
  database: Database,
  now: Date,
): Promise<Map<string, Record<Metric, number | null>>> {
  const tiers = ['production']
  const span = latestSpan(now)
  const projects = await listBusiestProjects(database, { ...span, tiers, rowsMax: namedMax + othersMax })
  const scopeOf = (some: typeof projects) => {
    const projectIds = some.map(({ id }) => id)
    return { ...span, tiers, projectIds, environment: null, tenants: null }
  }
  const [named, others] = [projects.slice(0, namedMax), projects.slice(namedMax)]
  const values = await readAll(database, scopeOf(named), 'project')
  const found = new Map(
    named.map(({ id, pathWithNamespace }) => [pathWithNamespace, valuesAt(values, String(id))]),
  )
  if (others.length > 0) found.set('other', valuesAt(await readAll(database, scopeOf(others), 'all'), 'all'))
  return found
}

export interface ProjectMetrics {
  project: Pick<Project, 'id' | 'pathWithNamespace'>
  values: Record<Metric, number | null>
}

/**
 * Returns the four metrics, by path, of each project that the caller may read and that was deployed in the
 * time.
 *
 * @throws DomainError invalid for days in the wrong order, and for too many of them
 */
export async function listProjectMetrics(
  database: Database,
  caller: Caller,
  { tiers, ...days }: Days & { tiers: readonly string[] },
  now: Date,
  rows: Rows,
): Promise<{ projects: ProjectMetrics[]; total: number }> {
  const span = spanOf(days, now, spanDaysOfManyMax)
  const { projects, total } = await listDeployedProjects(database, caller, { ...span, tiers }, rows)
  const projectIds = projects.map(({ id }) => id)
  const scope = { ...span, projectIds, tiers, environment: null, tenants: boundTenantsOf(caller) }
  const values = await readAll(database, scope, 'project')
  return {
    projects: projects.map((project) => ({ project, values: valuesAt(values, String(project.id)) })),
    total,
  }
}

type AllValues = Record<Metric, MetricValues>

/** Runs one query after the other, so that it takes one connection. */
async function readAll(database: Database, scope: MetricScope, grouping: Grouping): Promise<AllValues> {
  const read: [Metric, MetricValues][] = []
  for (const metric of metrics) read.push([metric, await queries[metric](database, scope, grouping)])
  return Object.fromEntries(read) as AllValues
}

const valuesAt = (values: AllValues, key: string) =>
  Object.fromEntries(metrics.map((metric) => [metric, values[metric].get(key) ?? null])) as Record<
    Metric,
    number | null
  >
