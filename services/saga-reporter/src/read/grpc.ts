import {
  type GetSagaRequest,
  GetSagaResponse,
  type ListSagasRequest,
  ListSagasResponse,
  type SagaQueryServer,
  SagaQueryService,
} from '@switchyard/contracts/saga-query'
import type { Pooled } from '@switchyard/db'
import { defaultTenant, type SagaKey } from '@switchyard/domain/saga'
import { readParameters } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import { z } from 'zod'
import type { AdmitReader, Reader } from '../access/access.js'
import { type GrpcService, limitRequests, unary } from '../grpc/grpc.js'
import * as search from '../search/search.js'
import {
  bareBytesOf,
  fitActivities,
  fitSaga,
  fitSagas,
  messageBytesMax,
  sagaBytesMax,
} from '../shapes/message-size.js'
import { toActivityMessage, toSagaMessage } from '../shapes/messages.js'
import { readActivityCursor, readCursor, writeActivityCursor, writeCursor } from '../shapes/paging.js'
import {
  orderParameters,
  refuseNul,
  searchParameters,
  snakeCase,
  toOrder,
  toSearch,
} from '../shapes/parameters.js'
import type { SagaOrder, SagaPosition, SagaSearch } from '../shapes/search.js'
import { withTenant } from '../tenants.js'
import * as read from './read.js'

export interface SagaQueryDependencies {
  database: Pooled
  admitReader: AdmitReader
  watchSagas: SagaQueryServer['watchSagas']
  logger: Logger
}

const requestBytesMax = 64 * 1024

/** Returns the service `switchyard.sagas.v1.SagaQuery`. */
export function sagaQueryService(deps: SagaQueryDependencies): GrpcService {
  const { admitReader, database, watchSagas, logger } = deps
  const reading = <Request extends { tenant: string }, Response>(
    answer: (request: Request) => Promise<Response>,
  ) =>
    unary<Request, Response, Reader>(
      async (request, _call, { caller }) => answer(withTenant(request, caller)),
      logger,
    )
  const implementation: SagaQueryServer = {
    getSaga: reading((request: GetSagaRequest) => getSaga(database, request)),
    listSagas: reading((request: ListSagasRequest) => listSagas(database, request)),
    watchSagas,
  }
  return {
    name: 'switchyard.sagas.v1.SagaQuery',
    definition: limitRequests(SagaQueryService, requestBytesMax),
    implementation,
    admit: admitReader,
  }
}

/** Serves `SagaQuery.GetSaga`. The heads of payloads and the errors are shortened when not all fit. */
async function getSaga(database: Pooled, request: GetSagaRequest): Promise<GetSagaResponse> {
  const after = request.pageToken === '' ? null : readActivityCursor(request.pageToken, 'page_token')
  const { saga, activities, next } = await read.getSaga(database, readSagaKey(request), after)
  const page = activities.map(toActivityMessage)
  const response: GetSagaResponse = {
    saga: fitSaga(toSagaMessage(saga), sagaBytesMax),
    activities: [],
    nextPageToken: next ? writeActivityCursor(next) : '',
  }
  const otherBytes = GetSagaResponse.encode(response).finish().length + bareBytesOf(page)
  fitActivities(page, messageBytesMax - otherBytes)
  return { ...response, activities: page }
}

/** Serves `SagaQuery.ListSagas` with the filters, orders and rules of `GET /sagas`. */
async function listSagas(database: Pooled, request: ListSagasRequest): Promise<ListSagasResponse> {
  const query = readListQuery(request)
  const { sagas, next, counts } = await search.listSagas(database, {
    ...query,
    withCounts: request.withCounts,
  })
  const response: ListSagasResponse = {
    sagas: [],
    nextPageToken: next ? writeCursor(query.order, next) : '',
    statusCounts: counts ?? [],
  }
  const otherBytes = ListSagasResponse.encode(response).finish().length
  return { ...response, sagas: fitSagas(sagas.map(toSagaMessage), messageBytesMax - otherBytes) }
}

/** @throws DomainError invalid-parameters */
function readSagaKey({ tenant, sagaId }: GetSagaRequest): SagaKey {
  refuseNul({ tenant, saga_id: sagaId })
  return { tenant: tenant || defaultTenant, sagaId }
}

const pageSize = { usual: 20, max: 100 }

/** Fields have the names of the proto, so that errors use the names of the sender. */
const listSchema = z.object({
  ...searchParameters,
  ...orderParameters,
  page_size: z.int().refine((size) => size >= 0, { error: 'does not have a valid value' }),
})

interface ListQuery {
  search: SagaSearch
  order: SagaOrder
  after: SagaPosition | null
  take: number
}

/**
 * Reads a list request with the rules of `GET /sagas`.
 *
 * @throws DomainError invalid-parameters
 */
function readListQuery(request: ListSagasRequest): ListQuery {
  const { page_size, ...given } = readParameters(listSchema, listParameters(request))
  const wanted = toSearch(given)
  const order = toOrder(given, wanted)
  const after = request.pageToken === '' ? null : readCursor(order, request.pageToken, 'page_token')
  return { search: wanted, order, after, take: Math.min(page_size || pageSize.usual, pageSize.max) }
}

/** Returns the fields of a request by their names in the proto. Empty fields count as missing. */
const listParameters = (request: ListSagasRequest): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(request).flatMap(([name, value]) => (value === '' ? [] : [[snakeCase(name), value]])),
  )
