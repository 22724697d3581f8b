import type { Readable } from '@switchyard/db'
import { endpoint, integer, pageParameters, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaEvent, sagaEventShape } from '../presenters/saga-event.js'
import { listSagaEvents as listEvents } from '../use-cases/list-saga-events.js'
import { tenantParameter } from '../wire/search-parameters.js'
import { cursorHeaders, cursorReply } from './cursor-reply.js'

/** `GET /sagas/:id/events`: the log, in its order. */
export const listSagaEvents = (database: Readable, traceUrlTemplate: string | undefined) =>
  endpoint({
    summary: 'The log of a saga',
    replies: { 200: z.array(sagaEventShape) },
    headers: cursorHeaders,
    input: z.object({
      id: text(),
      ...tenantParameter,
      per_page: pageParameters.per_page,
      after: integer()
        .refine((value) => value >= 0, { error: 'does not have a valid value' })
        .default(0),
    }),
    handle: async ({ id, tenant, per_page, after }, _caller, call) => {
      const key = { tenant, sagaId: id }
      const { events, hasMore } = await listEvents(database, key, { after, take: per_page })
      const last = events.at(-1)
      const next = hasMore && last ? { parameter: 'after', value: String(last.seq) } : null
      const shown = events.map((event) => presentSagaEvent(event, traceUrlTemplate))
      return cursorReply(shown, per_page, next, call)
    },
  })
