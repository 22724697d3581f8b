import type { Readable } from '@switchyard/db'
import { type Call, endpoint, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type PresentedBytes, presentBytes } from '../presenters/payload-bytes.js'
import { getPayload as findPayload } from '../use-cases/get-payload.js'
import { payloadKindParameter, tenantParameter } from '../wire/search-parameters.js'

/** `GET /sagas/:id/activities/:activity_id/payloads/:kind`: the bytes as they were reported. */
export const getPayload = (database: Readable) =>
  endpoint({
    summary: 'The bytes of a payload as they were reported',
    replies: { 200: ['application/json', 'text/plain', 'application/octet-stream'] },
    input: z.object({
      id: text(),
      activity_id: text(),
      kind: payloadKindParameter,
      ...tenantParameter,
    }),
    handle: async ({ id, activity_id, kind, tenant }, _caller, call) => {
      const payload = await findPayload(database, { tenant, sagaId: id, activityId: activity_id }, kind)
      sendBytes(call, presentBytes(payload, `${kind}-${activity_id}`))
      return streamed
    },
  })

function sendBytes({ raw: { response } }: Call, { bytes, headers }: PresentedBytes): void {
  // `response.set` would add a charset to JSON, whose type some clients compare as a whole.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.status(200).send(bytes)
}
