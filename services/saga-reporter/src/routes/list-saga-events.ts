import { listSagaEvents as findEvents, hasSaga, type Readable } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, integer, pageParameters, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaEvent, sagaEventShape } from '../presenters/saga-event.js'
import { cursorHeaders, cursorReply } from './cursor.js'
import { tenantParameter } from './search-parameters.js'

/** `GET /sagas/:id/events`: the log, in its order. */
export const listSagaEvents = (database: Readable) =>
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
      const [known, events] = await Promise.all([
        hasSaga(database, tenant, id),
        findEvents(database, { tenant, sagaId: id }, { after, take: per_page + 1 }),
      ])
      if (!known) throw notFound('Saga')
      const page = events.slice(0, per_page)
      const last = page.at(-1)
      const next = events.length > per_page && last ? { parameter: 'after', value: String(last.seq) } : null
      return cursorReply(page.map(presentSagaEvent), per_page, next, call)
    },
  })
