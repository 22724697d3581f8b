import type { Pooled } from '@switchyard/db'
import { endpoint, flag, type Route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { cursorHeaders, cursorReply, readCursor, writeCursor } from '../shapes/paging.js'
import {
  cursorParameters,
  orderParameters,
  searchParameters,
  toOrder,
  toSearch,
} from '../shapes/parameters.js'
import { presentSaga, sagaShape } from '../shapes/saga.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import type { StatusCounts } from './search.js'
import * as search from './search.js'

export const searchRoutes = (database: Pooled): Route[] => [
  tenantRoute('GET', '/sagas', sagaReader, listSagas(database)),
]

const listSagas = (database: Pooled) =>
  endpoint({
    summary: 'List sagas',
    replies: { 200: z.array(sagaShape) },
    headers: { ...cursorHeaders, 'X-Status-Counts': 'Number of sagas by status, with `with_counts`' },
    input: z.object({
      ...searchParameters,
      ...orderParameters,
      ...cursorParameters,
      with_counts: flag().default(false),
    }),
    handle: async ({ cursor, per_page, with_counts, ...given }, _caller, call) => {
      const wanted = toSearch(given)
      const order = toOrder(given, wanted)
      const after = cursor === undefined ? null : readCursor(order, cursor)
      const { sagas, next, counts } = await search.listSagas(database, {
        search: wanted,
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

/** Returns the header `Pending=0, Started=10000+, …`. */
const countsHeader = (counts: StatusCounts | null) => ({
  'X-Status-Counts':
    counts?.map(({ status, count, more }) => `${status}=${count}${more ? '+' : ''}`).join(', ') ?? 'unknown',
})
