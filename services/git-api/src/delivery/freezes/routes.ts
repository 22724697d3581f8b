import type { Database, FreezePeriod } from '@switchyard/db'
import { dayMs, systemClock } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
  time,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import * as periods from './freeze-periods.js'
import type { FreezeDependencies } from './freezes.js'
import * as freezes from './freezes.js'
import type { Freeze, FreezingRun } from './store.js'

const freezePeriodShape = z
  .object({
    id: z.int(),
    freeze_start: z.string().meta({ description: 'Cron expression' }),
    freeze_end: z.string().meta({ description: 'Cron expression' }),
    cron_timezone: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'FreezePeriod', description: 'Times in which a project should not be deployed' })

/** Returns a freeze period in GitLab's shape. */
const presentFreezePeriod = (period: FreezePeriod): z.output<typeof freezePeriodShape> => ({
  id: period.id,
  freeze_start: period.freezeStart,
  freeze_end: period.freezeEnd,
  cron_timezone: period.cronTimezone,
  created_at: period.createdAt,
  updated_at: period.updatedAt,
})

export function freezeRoutes(deps: FreezeDependencies & ProjectResourceDependencies): Route[] {
  const { database } = deps
  const { readDeployments, maintain } = deps.guards
  const path = '/projects/:id/freeze_periods'
  const one = `${path}/:freeze_period_id`
  return [
    route('GET', '/freezes', signedIn, listFreezes(deps), { refusesUnknown: true }),
    route('GET', path, readDeployments, listFreezePeriods(database)),
    route('POST', path, maintain, createFreezePeriod(database)),
    route('GET', one, readDeployments, getFreezePeriod(database)),
    route('PUT', one, maintain, updateFreezePeriod(database)),
    route('DELETE', one, maintain, deleteFreezePeriod(database)),
  ]
}

const freezeShape = z
  .object({
    project: projectReferenceShape,
    freeze_period: freezePeriodShape.nullable().meta({ description: 'Null: a rule has made the freeze' }),
    impact_rule_run: z
      .object({
        id: z.int(),
        rule: z.object({ id: z.int(), name: z.string() }),
        environment: z.string().meta({ description: 'The one that is frozen' }),
        deployment: z.object({ id: z.int(), iid: z.int() }),
      })
      .nullable()
      .meta({ description: 'Null: a freeze period has made the freeze' }),
    starts_at: z.date(),
    ends_at: z.date().nullable().meta({ description: 'Null: until what the rule is about is resolved' }),
  })
  .meta({ id: 'Freeze', description: 'A time in which a project should not be deployed' })

const presentRun = ({ id, ruleId, rule, deployment }: FreezingRun) => ({
  id,
  rule: { id: ruleId, name: rule.name },
  environment: deployment.environment.name,
  deployment: { id: deployment.id, iid: deployment.iid },
})

const presentFreeze = ({ project, source, startsAt, endsAt }: Freeze): z.output<typeof freezeShape> => ({
  project: presentProjectReference(project),
  freeze_period: 'period' in source ? presentFreezePeriod(source.period) : null,
  impact_rule_run: 'run' in source ? presentRun(source.run) : null,
  starts_at: startsAt,
  ends_at: endsAt,
})

const listFreezes = (deps: FreezeDependencies) =>
  endpoint({
    summary: 'Freezes of projects whose deployments the caller may read, the last one first',
    replies: { 200: z.array(freezeShape) },
    input: z.object({
      ...pageParameters,
      ends_after: optional(time()).meta({ description: 'Within the last two days; else a day ago' }),
      starts_before: optional(time()).meta({ description: 'Until in a day; else now' }),
    }),
    async handle({ ends_after, starts_before, ...page }, caller: Caller, call) {
      const now = systemClock()
      const endsAfter = ends_after ?? new Date(now.getTime() - dayMs)
      const startsBefore = starts_before ?? now
      if (now.getTime() - endsAfter.getTime() > freezes.listedMs.before)
        throw parameterProblem('ends_after', 'is more than two days ago')
      if (startsBefore.getTime() - now.getTime() > freezes.listedMs.after)
        throw parameterProblem('starts_before', 'is more than a day ahead')
      const question = { endsAfter, startsBefore, now }
      const found = await freezes.listFreezes(deps, caller, question, rowsOf(page))
      return pageReply(found.freezes.map(presentFreeze), page, found.total, call)
    },
  })

const periodId = { freeze_period_id: rowId() }

const listFreezePeriods = (database: Database) =>
  endpoint({
    summary: 'Freeze periods of a project, the oldest first',
    replies: { 200: z.array(freezePeriodShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await periods.listFreezePeriods(database, access, rowsOf(page))
      return pageReply(found.periods.map(presentFreezePeriod), page, found.total, call)
    },
  })

const getFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'One freeze period',
    replies: { 200: freezePeriodShape },
    input: z.object(periodId),
    async handle({ freeze_period_id }, access: ProjectCall) {
      const period = await periods.getFreezePeriod(database, access, freeze_period_id)
      return versioned(presentFreezePeriod(period), period)
    },
  })

const createFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'Add a freeze period',
    replies: { 201: freezePeriodShape },
    input: z.object({
      freeze_start: filledText().meta({ description: 'Cron expression of five fields' }),
      freeze_end: filledText().meta({ description: 'Cron expression of five fields' }),
      cron_timezone: optionalText(text()).meta({ description: 'Name of a time zone; else UTC' }),
    }),
    async handle({ freeze_start, freeze_end, cron_timezone = 'UTC' }, access: ProjectCall<Caller>, call) {
      const fields = { freezeStart: freeze_start, freezeEnd: freeze_end, cronTimezone: cron_timezone }
      const author = auditAuthor(access.caller, call)
      return created(presentFreezePeriod(await periods.addFreezePeriod(database, access, fields, author)))
    },
  })

const updateFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'Change a freeze period',
    replies: { 200: freezePeriodShape },
    refusals: [412],
    input: z.object({
      ...periodId,
      freeze_start: optionalText(text()),
      freeze_end: optionalText(text()),
      cron_timezone: optionalText(text()),
    }),
    async handle({ freeze_period_id: id, ...given }, access: ProjectCall<Caller>, call) {
      const changes = {
        freezeStart: given.freeze_start,
        freezeEnd: given.freeze_end,
        cronTimezone: given.cron_timezone,
      }
      const author = auditAuthor(access.caller, call)
      const required = preconditionOf(call)
      const period = await periods.changeFreezePeriod(database, access, { id, changes }, author, required)
      return versioned(presentFreezePeriod(period), period)
    },
  })

const deleteFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'Delete a freeze period',
    replies: { 204: null },
    refusals: [412],
    input: z.object(periodId),
    async handle({ freeze_period_id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      await periods.removeFreezePeriod(database, access, freeze_period_id, author, preconditionOf(call))
      return noContent()
    },
  })
