import type { Caller } from '@switchyard/domain/access'
import { sagaStatuses } from '@switchyard/domain/saga'
import {
  answerHead,
  endpoint,
  integer,
  list,
  senderAddress,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { LiveSagas } from '../live/live-sagas.js'
import { sagaOperations } from '../wire/operations.js'
import { tenantParameter } from '../wire/search-parameters.js'
import { sendEvents } from './send-events.js'

export interface StreamDependencies {
  live: LiveSagas
  /** How long a client may read nothing. */
  stallMsMax: number
}

/** `Ended,Error`, or the parameter several times. */
const listOf = <Value extends string>(values: readonly [Value, ...Value[]]) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given : typeof given === 'string' ? given.split(',') : given),
    list(z.enum(values)).refine((words) => words.length > 0, { error: 'is empty' }),
  )

const position = () => integer().refine((value) => value >= 0, { error: 'does not have a valid value' })

/** `GET /sagas/stream`: the log as it grows, as server-sent events. */
export const streamSagas = ({ live, stallMsMax }: StreamDependencies) =>
  endpoint({
    summary: 'The log of sagas as it grows, as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({
      ...tenantParameter,
      service_name: text().optional(),
      saga_id: text().optional(),
      status: listOf(sagaStatuses).optional(),
      operation: listOf(sagaOperations).optional(),
      last_event_id: position().optional(),
    }),
    handle: async (input, { token }: Caller, call) => {
      const { request, response } = call.raw
      const filter = {
        tenant: input.tenant,
        serviceName: input.service_name,
        sagaId: input.saga_id,
        statuses: input.status,
        operations: input.operation,
      }
      const after = headerPosition(request.get('Last-Event-ID')) ?? input.last_event_id ?? null
      if (answerHead(call)) return streamed
      const batches = live.watch({
        kind: 'sse',
        owner: { token: token.id, address: senderAddress(request.ip) },
        filter,
        after,
        signal: call.signal,
      })
      await sendEvents(response, batches, stallMsMax)
      return streamed
    },
  })

/** A client that reconnects sends its position in the header, and the query of its first request once more. */
function headerPosition(value: string | undefined): number | undefined {
  const parsed = position().safeParse(value)
  return parsed.success ? parsed.data : undefined
}
