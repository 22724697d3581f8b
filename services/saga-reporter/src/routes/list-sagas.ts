import type { Readable } from '@switchyard/db'
import { endpoint, flag } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSaga, sagaShape } from '../presenters/saga.js'
import { listSagas as findSagas, type StatusCounts } from '../use-cases/list-sagas.js'
import { readCursor, writeCursor } from '../wire/cursor.js'
import {
  cursorParameters,
  orderParameters,
  searchParameters,
  toOrder,
  toSearch,
} from '../wire/search-parameters.js'
import { cursorHeaders, cursorReply } from './cursor-reply.js'

/** `GET /sagas` */
export const listSagas = (database: Readable) =>
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
      const { sagas, next, counts } = await findSagas(database, {
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
const countsHeader = (counts: StatusCounts | null) => ({
  'X-Status-Counts':
    counts?.map(({ status, count, more }) => `${status}=${count}${more ? '+' : ''}`).join(', ') ?? 'unknown',
})
