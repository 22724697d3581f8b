import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { freezePeriodShape, presentFreezePeriod } from '../../shapes/freeze-period.js'
import { optionalText } from '../../shapes/parameters.js'
import * as freezePeriods from './freeze-periods.js'

export function freezePeriodRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { readDeployments, maintain } = guards
  const path = '/projects/:id/freeze_periods'
  const one = `${path}/:freeze_period_id`
  return [
    route('GET', path, readDeployments, listFreezePeriods(database)),
    route('POST', path, maintain, createFreezePeriod(database)),
    route('GET', one, readDeployments, getFreezePeriod(database)),
    route('PUT', one, maintain, updateFreezePeriod(database)),
    route('DELETE', one, maintain, deleteFreezePeriod(database)),
  ]
}

const periodId = { freeze_period_id: rowId() }

const listFreezePeriods = (database: Database) =>
  endpoint({
    summary: 'List the freeze periods of a project, oldest first',
    replies: { 200: z.array(freezePeriodShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await freezePeriods.listFreezePeriods(database, access, rowsOf(page))
      return pageReply(found.periods.map(presentFreezePeriod), page, found.total, call)
    },
  })

const getFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'Get a freeze period',
    replies: { 200: freezePeriodShape },
    input: z.object(periodId),
    async handle({ freeze_period_id }, access: ProjectCall) {
      const period = await freezePeriods.getFreezePeriod(database, access, freeze_period_id)
      return versioned(presentFreezePeriod(period), period)
    },
  })

const createFreezePeriod = (database: Database) =>
  endpoint({
    summary: 'Create a freeze period',
    replies: { 201: freezePeriodShape },
    input: z.object({
      freeze_start: filledText().meta({ description: 'Cron expression of five fields' }),
      freeze_end: filledText().meta({ description: 'Cron expression of five fields' }),
      cron_timezone: optionalText(text()).meta({ description: 'Name of a time zone; default: UTC' }),
    }),
    async handle({ freeze_start, freeze_end, cron_timezone = 'UTC' }, access: ProjectCall<Caller>, call) {
      const fields = { freezeStart: freeze_start, freezeEnd: freeze_end, cronTimezone: cron_timezone }
      const author = auditAuthor(access.caller, call)
      return created(
        presentFreezePeriod(await freezePeriods.addFreezePeriod(database, access, fields, author)),
      )
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
      const period = await freezePeriods.changeFreezePeriod(
        database,
        access,
        { id, changes },
        author,
        required,
      )
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
      await freezePeriods.removeFreezePeriod(database, access, freeze_period_id, author, preconditionOf(call))
      return noContent()
    },
  })
