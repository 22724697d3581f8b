import { countedMax, countSagas, type Readable, type SagaSearch, searchSagas } from '@switchyard/db'
import { endpoint, flag } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSaga, sagaShape } from '../presenters/saga.js'
import { cursorHeaders, cursorReply, readCursor, writeCursor } from './cursor.js'
import {
  cursorParameters,
  orderParameters,
  searchParameters,
  toOrder,
  toSearch,
} from './search-parameters.js'

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
      const [{ sagas, next }, counts] = await Promise.all([
        searchSagas(database, { search, order, after }, per_page),
        with_counts ? countsHeader(database, search) : null,
      ])
      const link = next && { parameter: 'cursor', value: writeCursor(order, next) }
      const reply = cursorReply(sagas.map(presentSaga), per_page, link, call)
      return { ...reply, headers: { ...reply.headers, ...counts } }
    },
  })

/** `Pending=0, Started=10000+, …` */
async function countsHeader(database: Readable, search: SagaSearch) {
  const counts = await countSagas(database, search)
  if (counts === null) return { 'X-Status-Counts': 'unknown' }
  const texts = Object.entries(counts).map(
    ([status, count]) => `${status}=${count > countedMax ? `${countedMax}+` : count}`,
  )
  return { 'X-Status-Counts': texts.join(', ') }
}
