import type { Pooled } from '@switchyard/db'
import type { SagaView } from '../saga-view-store.js'
import { countedMax, type SagaOrder, type SagaPosition, type SagaSearch } from '../shapes/search.js'
import { countSagas, searchSagas } from './store.js'

export interface SagaListRequest {
  search: SagaSearch
  order: SagaOrder
  /** The end of the previous page; null: the first page. */
  after: SagaPosition | null
  take: number
  withCounts: boolean
}

export interface SagaList {
  sagas: SagaView[]
  /** The start of the next page; null on the last page. */
  next: SagaPosition | null
  /** Null when counting took too long, undefined when it was not requested. */
  counts: StatusCounts | null | undefined
}

/** Sagas of each status; `more`: there are more than `count`. */
export type StatusCounts = { status: string; count: number; more: boolean }[]

export async function listSagas(database: Pooled, request: SagaListRequest): Promise<SagaList> {
  const { search, order, after, take, withCounts } = request
  const [{ sagas, next }, counts] = await Promise.all([
    searchSagas(database, { search, order, after }, take),
    withCounts ? countStatuses(database, search) : undefined,
  ])
  return { sagas, next, counts }
}

async function countStatuses(database: Pooled, search: SagaSearch): Promise<StatusCounts | null> {
  const counts = await countSagas(database, search)
  if (counts === null) return null
  return Object.entries(counts).map(([status, count]) => ({
    status,
    count: Math.min(count, countedMax),
    more: count > countedMax,
  }))
}
