import type { Pooled } from '@switchyard/db'
import { activityStatuses } from '@switchyard/domain/saga'
import { answered, type Call, endpoint, oneOf, type Route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { cursorHeaders, cursorReply, readCursor, writeCursor } from '../shapes/paging.js'
import { cursorParameters, tenantParameter } from '../shapes/parameters.js'
import { encodingOf } from '../shapes/payload.js'
import { newestFirst } from '../shapes/search.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import * as activities from './activities.js'
import type { ParkedActivity, StoredPayload } from './store.js'

export const activityRoutes = (database: Pooled): Route[] => [
  tenantRoute('GET', '/sagas/parked_activities', sagaReader, listParkedActivities(database)),
  tenantRoute(
    'GET',
    '/sagas/:id/activities/:activity_id/payloads/:kind',
    sagaReader,
    downloadPayload(database),
  ),
]

const downloadPayload = (database: Pooled) =>
  endpoint({
    summary: 'Get the raw content of a payload as it was reported',
    replies: { 200: ['application/json', 'text/plain', 'application/octet-stream'] },
    input: z.object({
      id: text(),
      activity_id: text(),
      kind: z.enum(['parameter', 'result']),
      ...tenantParameter,
    }),
    handle: async ({ id, activity_id, kind, tenant }, _caller, call) => {
      const key = { tenant, sagaId: id, activityId: activity_id }
      const payload = await activities.getPayload(database, key, kind)
      sendBytes(call, presentBytes(payload, `${kind}-${activity_id}`))
      return answered
    },
  })

function sendBytes({ raw: { response } }: Call, { bytes, headers }: PresentedBytes): void {
  // `response.set` would add a charset to JSON, but some clients compare the whole content type.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.status(200).send(bytes)
}

interface PresentedBytes {
  bytes: Buffer
  headers: Record<string, string>
}

const types = {
  json: { type: 'application/json', ending: 'json' },
  text: { type: 'text/plain; charset=utf-8', ending: 'txt' },
  base64: { type: 'application/octet-stream', ending: 'bin' },
} as const

/**
 * Returns the bytes of a payload for a client or a file. Every reporter can write payloads, so a browser must
 * not show one as a page: the answer is a download of a harmless type, and the browser must not guess another
 * one.
 *
 * @param name name of the file, without its extension
 */
function presentBytes({ size, sha256, bytes }: StoredPayload, name: string): PresentedBytes {
  const truncated = bytes.length < size
  const { type, ending } = types[encodingOf(bytes, truncated)]
  const file = `${name.replace(/[^\w.-]/g, '_')}.${ending}`
  return {
    bytes,
    headers: {
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="${file}"`,
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'Cache-Control': 'max-age=0, private, must-revalidate',
      Vary: 'Accept-Encoding, PRIVATE-TOKEN, Authorization, Cookie',
      // The digest covers the whole payload, although fewer bytes may be stored.
      ETag: truncated ? `"${sha256}-${bytes.length}"` : `"${sha256}"`,
      'X-Payload-Size': String(size),
      'X-Payload-Sha256': sha256,
      'X-Payload-Truncated': String(truncated),
    },
  }
}

const listParkedActivities = (database: Pooled) =>
  endpoint({
    summary: 'List the activities whose saga is not known yet',
    replies: { 200: z.array(parkedActivityShape) },
    headers: cursorHeaders,
    input: z.object({ ...tenantParameter, ...cursorParameters }),
    handle: async ({ tenant, cursor, per_page }, _caller, call) => {
      const after = cursor === undefined ? null : readCursor(newestFirst, cursor)
      const found = await activities.listParked(database, tenant, { after, take: per_page })
      const { next } = found
      const link = next && { parameter: 'cursor', value: writeCursor(newestFirst, next) }
      return cursorReply(found.activities.map(presentParkedActivity), per_page, link, call)
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
  .meta({ id: 'ParkedActivity', description: 'An activity whose saga is not known yet' })

const presentParkedActivity = (activity: ParkedActivity): z.output<typeof parkedActivityShape> => ({
  activity_id: activity.id,
  status: activity.status,
  first_seen_at: activity.firstSeenAt,
  last_event_at: activity.lastEventAt,
  execute_errors: activity.executeErrors,
  compensate_errors: activity.compensateErrors,
})
