import type { Pooled } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { activityStatuses } from '@switchyard/domain/saga'
import {
  administratorOrScope,
  endpoint,
  flag,
  ok,
  oneOf,
  type Route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { downloadPayload } from '../activities/routes.js'
import { exportSagas } from '../export/routes.js'
import { listSagaEvents } from '../log/routes.js'
import type { ParkedActivity } from '../search/store.js'
import { sagaUrl } from '../shapes/activity.js'
import { cursorHeaders, cursorReply, readActivityCursor, readCursor, writeCursor } from '../shapes/paging.js'
import {
  cursorParameters,
  orderParameters,
  searchParameters,
  tenantParameter,
  toOrder,
  toSearch,
} from '../shapes/parameters.js'
import { presentSaga, presentSagaDetail, sagaDetailShape, sagaShape } from '../shapes/saga.js'
import { getFailureHistory, getStats } from '../stats/routes.js'
import { tenantRoute } from '../tenants.js'
import * as read from './read.js'

export interface ReadDependencies {
  /** Connections for reading, with a time limit for each statement, so that reads do not delay events. */
  database: Pooled
  clock: Clock
  /** Where traces are shown, with `{trace_id}` for the id. */
  traceUrlTemplate: string | undefined
}

const reader = administratorOrScope('read_sagas')

/** What is known of many sagas. */
export const searchRoutes = ({ database, clock }: ReadDependencies): Route[] => [
  tenantRoute('GET', '/sagas', reader, listSagas(database)),
  tenantRoute('GET', '/sagas/parked_activities', reader, listParkedActivities(database)),
  tenantRoute('GET', '/sagas/stats', reader, getStats(database, clock)),
  tenantRoute('GET', '/sagas/failure_history', reader, getFailureHistory(database, clock)),
  tenantRoute('GET', '/sagas/export', reader, exportSagas(database), { longLived: true }),
]

/**
 * What is known of one saga. `/sagas/:id` would take the names of other routes for ids, so these routes come
 * after them.
 */
export const sagaRoutes = ({ database, traceUrlTemplate }: ReadDependencies): Route[] => [
  tenantRoute('GET', '/sagas/:id', reader, getSaga(database)),
  tenantRoute('GET', '/sagas/:id/events', reader, listSagaEvents(database, traceUrlTemplate)),
  tenantRoute('GET', '/sagas/:id/activities/:activity_id/payloads/:kind', reader, downloadPayload(database)),
]

const listSagas = (database: Pooled) =>
  endpoint({
    summary: 'Find sagas',
    replies: { 200: z.array(sagaShape) },
    headers: { ...cursorHeaders, 'X-Status-Counts': 'Sagas of each status, with `with_counts`' },
    input: z.object({
      ...searchParameters,
      ...orderParameters,
      ...cursorParameters,
      with_counts: flag().default(false),
    }),
    handle: async ({ cursor, per_page, with_counts, ...given }, _caller, call) => {
      const search = toSearch(given)
      const order = toOrder(given, search)
      const after = cursor === undefined ? null : readCursor(order, cursor)
      const { sagas, next, counts } = await read.listSagas(database, {
        search,
        order,
        after,
        take: per_page,
        withCounts: with_counts,
      })
      const link = next && { parameter: 'cursor', value: writeCursor(order, next) }
      const reply = cursorReply(sagas.map(presentSaga), per_page, link, call)
      return { ...reply, headers: { ...reply.headers, ...(counts !== undefined && countsHeader(counts)) } }
    },
  })

/** `Pending=0, Started=10000+, …` */
const countsHeader = (counts: read.StatusCounts | null) => ({
  'X-Status-Counts':
    counts?.map(({ status, count, more }) => `${status}=${count}${more ? '+' : ''}`).join(', ') ?? 'unknown',
})

const getSaga = (database: Pooled) =>
  endpoint({
    summary: 'One saga with all that belongs to it',
    replies: { 200: sagaDetailShape },
    input: z.object({
      id: text(),
      ...tenantParameter,
      activities_cursor: text()
        .optional()
        .meta({ description: '`next_activities_cursor` of the answer before: the next 1,000 activities' }),
    }),
    handle: async ({ id, tenant, activities_cursor: cursor }, _caller, call) => {
      const key = { tenant, sagaId: id }
      const after = cursor ? readActivityCursor(cursor, 'activities_cursor') : null
      return ok(presentSagaDetail(await read.getSagaDetail(database, key, after), sagaUrl(call, key)))
    },
  })

const newestFirst = { by: 'created_at', direction: 'desc' } as const

/** `GET /sagas/parked_activities`: the activities whose saga no event has named, the newest first. */
const listParkedActivities = (database: Pooled) =>
  endpoint({
    summary: 'Activities whose saga no event has named',
    replies: { 200: z.array(parkedActivityShape) },
    headers: cursorHeaders,
    input: z.object({ ...tenantParameter, ...cursorParameters }),
    handle: async ({ tenant, cursor, per_page }, _caller, call) => {
      const after = cursor === undefined ? null : readCursor(newestFirst, cursor)
      const { activities, next } = await read.listParked(database, tenant, { after, take: per_page })
      const link = next && { parameter: 'cursor', value: writeCursor(newestFirst, next) }
      return cursorReply(activities.map(presentParkedActivity), per_page, link, call)
    },
  })

const parkedActivityShape = z
  .object({
    activity_id: z.string(),
    status: oneOf(activityStatuses),
    first_seen_at: z.date(),
    last_event_at: z.date(),
    execute_errors: z.string().nullable(),
    compensate_errors: z.string().nullable(),
  })
  .meta({ id: 'ParkedActivity', description: 'An activity whose saga no event has named' })

const presentParkedActivity = (activity: ParkedActivity): z.output<typeof parkedActivityShape> => ({
  activity_id: activity.id,
  status: activity.status,
  first_seen_at: activity.firstSeenAt,
  last_event_at: activity.lastEventAt,
  execute_errors: activity.executeErrors,
  compensate_errors: activity.compensateErrors,
})
