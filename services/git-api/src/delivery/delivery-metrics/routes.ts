import type { Database } from '@switchyard/db'
import { listedEntries, systemClock } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { environmentTiers } from '@switchyard/domain/deployment'
import { duration } from '@switchyard/domain/display'
import {
  endpoint,
  list,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { badgeParameters, colorOfUnknown, sendBadge } from '../../shapes/badge.js'
import { optional, optionalDay, optionalText } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import type { Metric } from './delivery-metrics.js'
import * as deliveryMetrics from './delivery-metrics.js'

export function deliveryMetricRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  return [
    route('GET', '/projects/:id/dora/metrics', guards.readDeployments, readMetric(database)),
    route('GET', '/projects/:id/dora/badge', guards.readDeployments, getBadge(database), {
      refusesUnknown: true,
    }),
    route('GET', '/delivery_metrics', signedIn, listProjectMetrics(database), { refusesUnknown: true }),
  ]
}

/** Parses a list, or one text with commas. */
const tierList = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? listedEntries(value) : value),
    list(z.enum(environmentTiers)),
  )

const scopeParameters = {
  start_date: optionalDay().meta({
    description: 'First day, in UTC. Unset: three months before the last day',
  }),
  end_date: optionalDay().meta({ description: 'Last day, in UTC. Unset: today' }),
  environment_tiers: optional(tierList()).meta({
    description: 'Tiers of the environments. Unset: `production`',
  }),
}

const environmentParameter = {
  environment: optionalText(text()).meta({
    description: 'Name of the environment, of any tier unless `environment_tiers` is given',
  }),
}

const pointShape = z
  .object({
    date: z.string().nullable().meta({
      description: 'First day of the interval; null: the value covers all days',
    }),
    value: z.number().nullable().meta({
      description: 'A number of deployments, a ratio from 0 to 1, or seconds; null: there was no data',
    }),
  })
  .meta({ id: 'DoraMetric', description: 'A DORA metric in an interval' })

const readMetric = (database: Database) =>
  endpoint({
    summary: 'Get one of the four DORA metrics by day, week or month',
    replies: { 200: z.array(pointShape) },
    input: z.object({
      metric: z.enum(deliveryMetrics.metrics),
      ...scopeParameters,
      interval: z
        .enum(deliveryMetrics.intervals)
        .default('daily')
        .meta({ description: 'Only Switchyard has `weekly`' }),
      ...environmentParameter,
    }),
    async handle(given, access: ProjectCall<Caller>) {
      const { metric, interval, environment } = given
      const tiers = tiersOf(given.environment_tiers, environment)
      const question = { metric, interval, environment, tiers, ...daysOf(given) }
      return ok(await deliveryMetrics.readMetric(database, access, question, systemClock()))
    },
  })

const tiersOf = (given: readonly string[] | undefined, environment: string | undefined) =>
  given && given.length > 0 ? given : environment === undefined ? ['production'] : null

const daysOf = (given: { start_date: Date | undefined; end_date: Date | undefined }) => ({
  startDate: given.start_date,
  endDate: given.end_date,
})

/** The label of a metric on a badge, and the format of its value over four weeks. */
const badgeTexts: Record<Metric, { key: string; show: (value: number) => string }> = {
  deployment_frequency: { key: 'deployments', show: (value) => `${value / 4} a week` },
  lead_time_for_changes: { key: 'lead time', show: (seconds) => duration(seconds * 1000) },
  time_to_restore_service: { key: 'time to restore', show: (seconds) => duration(seconds * 1000) },
  change_failure_rate: { key: 'change failures', show: (share) => `${(share * 100).toFixed(1)}%` },
}

const colorOfValue = '#007ec6'

const getBadge = (database: Database) =>
  endpoint({
    summary: 'Get one of the four DORA metrics over the last four weeks as an image',
    replies: { 200: ['image/svg+xml'] },
    input: z.object({
      metric: z.enum(deliveryMetrics.metrics),
      environment_tiers: scopeParameters.environment_tiers,
      ...environmentParameter,
      ...badgeParameters,
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const { metric, environment, key_text, key_width, style } = given
      const { key, show } = badgeTexts[metric]
      const tiers = tiersOf(given.environment_tiers, environment)
      const value = await deliveryMetrics.readLatest(
        database,
        access,
        { metric, environment, tiers },
        systemClock(),
      )
      return sendBadge(call, {
        key: key_text ?? key,
        keyWidth: key_width,
        style,
        value: value === null ? 'unknown' : show(value),
        color: value === null ? colorOfUnknown : colorOfValue,
      })
    },
  })

const projectMetricsShape = z
  .object({
    project: projectReferenceShape,
    deployment_frequency: z.int().meta({ description: 'Successful deployments' }),
    lead_time_for_changes: z.number().nullable().meta({ description: 'Median in seconds' }),
    time_to_restore_service: z.number().nullable().meta({ description: 'Median in seconds' }),
    change_failure_rate: z.number().nullable().meta({ description: 'A ratio from 0 to 1' }),
  })
  .meta({ id: 'ProjectDeliveryMetrics', description: 'The DORA metrics of a project' })

const listProjectMetrics = (database: Database) =>
  endpoint({
    summary: 'List the four DORA metrics of each deployed project that the caller may read',
    replies: { 200: z.array(projectMetricsShape) },
    input: z.object({ ...pageParameters, ...scopeParameters }),
    async handle(given, caller: Caller, call) {
      const question = { tiers: given.environment_tiers ?? ['production'], ...daysOf(given) }
      const found = await deliveryMetrics.listProjectMetrics(
        database,
        caller,
        question,
        systemClock(),
        rowsOf(given),
      )
      const items = found.projects.map(({ project, values }) => ({
        project: presentProjectReference(project),
        ...values,
        deployment_frequency: values.deployment_frequency ?? 0,
      }))
      return pageReply(items, given, found.total, call)
    },
  })
