import { listParkedActivities as findParked, type Readable } from '@switchyard/db'
import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { parkedActivityShape, presentParkedActivity } from '../presenters/parked-activity.js'
import { cursorHeaders, cursorReply, readCursor, writeCursor } from './cursor.js'
import { cursorParameters, tenantParameter } from './search-parameters.js'

const order = { by: 'created_at', direction: 'desc' } as const

/** `GET /sagas/parked_activities`: those whose saga no event has named, the newest first. */
export const listParkedActivities = (database: Readable) =>
  endpoint({
    summary: 'Activities whose saga no event has named',
    replies: { 200: z.array(parkedActivityShape) },
    headers: cursorHeaders,
    input: z.object({ ...tenantParameter, ...cursorParameters }),
    handle: async ({ tenant, cursor, per_page }, _caller, call) => {
      const after = cursor === undefined ? null : readCursor(order, cursor)
      const found = await findParked(database, tenant, { after, take: per_page + 1 })
      const page = found.slice(0, per_page)
      const last = page.at(-1)
      const more = found.length > per_page && last
      const next = more ? writeCursor(order, { at: last.firstSeenAt, id: last.id }) : null
      return cursorReply(
        page.map(presentParkedActivity),
        per_page,
        next === null ? null : { parameter: 'cursor', value: next },
        call,
      )
    },
  })
