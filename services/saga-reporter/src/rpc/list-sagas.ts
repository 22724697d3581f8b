import type { ListSagasRequest, ListSagasResponse, StatusCount } from '@switchyard/contracts/saga-query'
import { countedMax, countSagas, type Readable, type SagaSearch, searchSagas } from '@switchyard/db'
import { readParameters } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { toSagaMessage } from '../presenters/saga-messages.js'
import { readCursor, writeCursor } from '../routes/cursor.js'
import { orderParameters, searchParameters, toOrder, toSearch } from '../routes/search-parameters.js'

const pageSize = { usual: 20, max: 100 }

/** Named as in the proto, so that what is refused is called what its sender calls it. */
const schema = z.object({
  ...searchParameters,
  ...orderParameters,
  page_size: z.int().refine((size) => size >= 0, { error: 'does not have a valid value' }),
})

/** `SagaQuery.ListSagas`: the filters, orders and rules of `GET /sagas`. */
export async function listSagas(database: Readable, request: ListSagasRequest): Promise<ListSagasResponse> {
  const { page_size, ...given } = readParameters(schema, parametersOf(request))
  const search = toSearch(given)
  const order = toOrder(given, search)
  const after = request.pageToken === '' ? null : readCursor(order, request.pageToken, 'page_token')
  const take = Math.min(page_size || pageSize.usual, pageSize.max)
  const [{ sagas, next }, statusCounts] = await Promise.all([
    searchSagas(database, { search, order, after }, take),
    request.withCounts ? countStatuses(database, search) : [],
  ])
  return {
    sagas: sagas.map(toSagaMessage),
    nextPageToken: next ? writeCursor(order, next) : '',
    statusCounts,
  }
}

const parametersOf = (request: ListSagasRequest): Record<string, unknown> => ({
  tenant: request.tenant || undefined,
  service_name: request.serviceName,
  status: request.status,
  outcome: request.outcome,
  stuck: request.stuck,
  overdue: request.overdue,
  settled: request.settled,
  parked: request.parked,
  inconsistent: request.inconsistent,
  late: request.late,
  tag: request.tag,
  id_prefix: request.idPrefix,
  errors_contains: request.errorsContains,
  created_after: request.createdAfter,
  created_before: request.createdBefore,
  updated_after: request.updatedAfter,
  updated_before: request.updatedBefore,
  ended_after: request.endedAfter,
  ended_before: request.endedBefore,
  order_by: request.orderBy,
  sort: request.sort,
  page_size: request.pageSize,
})

async function countStatuses(database: Readable, search: SagaSearch): Promise<StatusCount[]> {
  const counts = await countSagas(database, search)
  return Object.entries(counts ?? {}).map(([status, count]) => ({
    status,
    count: Math.min(count, countedMax),
    more: count > countedMax,
  }))
}
