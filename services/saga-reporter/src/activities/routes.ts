import type { Pooled } from '@switchyard/db'
import { answered, type Call, endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as read from '../read/read.js'
import { tenantParameter } from '../shapes/parameters.js'
import { encodingOf } from '../shapes/payload.js'
import type { StoredPayload } from './store.js'

/** `GET /sagas/:id/activities/:activity_id/payloads/:kind`: the bytes as they were reported. */
export const downloadPayload = (database: Pooled) =>
  endpoint({
    summary: 'The bytes of a payload as they were reported',
    replies: { 200: ['application/json', 'text/plain', 'application/octet-stream'] },
    input: z.object({
      id: text(),
      activity_id: text(),
      kind: z.enum(['parameter', 'result']),
      ...tenantParameter,
    }),
    handle: async ({ id, activity_id, kind, tenant }, _caller, call) => {
      const payload = await read.getPayload(database, { tenant, sagaId: id, activityId: activity_id }, kind)
      sendBytes(call, presentBytes(payload, `${kind}-${activity_id}`))
      return answered
    },
  })

function sendBytes({ raw: { response } }: Call, { bytes, headers }: PresentedBytes): void {
  // `response.set` would add a charset to JSON, whose type some clients compare as a whole.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.status(200).send(bytes)
}

export interface PresentedBytes {
  bytes: Buffer
  headers: Record<string, string>
}

const types = {
  json: { type: 'application/json', ending: 'json' },
  text: { type: 'text/plain; charset=utf-8', ending: 'txt' },
  base64: { type: 'application/octet-stream', ending: 'bin' },
} as const

/**
 * The bytes of a payload, for a client or a file. Every reporter can write payloads, so a browser must not
 * show one as a page: it is a download of a harmless type, and the browser must not guess another type.
 *
 * @param name of the file, without its ending
 */
export function presentBytes({ size, sha256, bytes }: StoredPayload, name: string): PresentedBytes {
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
      // The digest is that of the whole payload, of which fewer bytes may be stored.
      ETag: truncated ? `"${sha256}-${bytes.length}"` : `"${sha256}"`,
      'X-Payload-Size': String(size),
      'X-Payload-Sha256': sha256,
      'X-Payload-Truncated': String(truncated),
    },
  }
}
