import type { Readable } from '@switchyard/db'
import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { parkedActivityShape, presentParkedActivity } from '../presenters/parked-activity.js'
import { listParkedActivities as listParked } from '../use-cases/list-parked-activities.js'
import { readCursor, writeCursor } from '../wire/cursor.js'
import { cursorParameters, tenantParameter } from '../wire/search-parameters.js'
import { cursorHeaders, cursorReply } from './cursor-reply.js'

const order = { by: 'created_at', direction: 'desc' } as const

/** `GET /sagas/parked_activities`: the activities whose saga no event has named, the newest first. */
export const listParkedActivities = (database: Readable) =>
  endpoint({
    summary: 'Activities whose saga no event has named',
    replies: { 200: z.array(parkedActivityShape) },
    headers: cursorHeaders,
    input: z.object({ ...tenantParameter, ...cursorParameters }),
    handle: async ({ tenant, cursor, per_page }, _caller, call) => {
      const after = cursor === undefined ? null : readCursor(order, cursor)
      const { activities, next } = await listParked(database, tenant, { after, take: per_page })
      const link = next && { parameter: 'cursor', value: writeCursor(order, next) }
      return cursorReply(activities.map(presentParkedActivity), per_page, link, call)
    },
  })
