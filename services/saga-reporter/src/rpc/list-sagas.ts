import type { ListSagasRequest, ListSagasResponse } from '@switchyard/contracts/saga-query'
import type { Readable } from '@switchyard/db'
import { toSagaMessage } from '../presenters/saga-messages.js'
import { listSagas as findSagas } from '../use-cases/list-sagas.js'
import { writeCursor } from '../wire/cursor.js'
import { readListQuery } from '../wire/query-requests.js'

/** `SagaQuery.ListSagas`: the filters, orders and rules of `GET /sagas`. */
export async function listSagas(database: Readable, request: ListSagasRequest): Promise<ListSagasResponse> {
  const query = readListQuery(request)
  const { sagas, next, counts } = await findSagas(database, { ...query, withCounts: request.withCounts })
  return {
    sagas: sagas.map(toSagaMessage),
    nextPageToken: next ? writeCursor(query.order, next) : '',
    statusCounts: counts ?? [],
  }
}
