import type { ServerUnaryCall } from '@grpc/grpc-js'
import {
  type GetSagaRequest,
  type GetSagaResponse,
  type ListSagasRequest,
  type ListSagasResponse,
  type SagaQueryServer,
  SagaQueryService,
} from '@switchyard/contracts/saga-query'
import { findSagaView, listActivityViews, type Readable, type SagaOrder, searchSagas } from '@switchyard/db'
import { invalidParameters, notFound } from '@switchyard/domain'
import { type SagaStatus, sagaStatuses } from '@switchyard/domain/saga'
import { type GrpcService, serverStream, unary } from '@switchyard/service-kit/grpc'
import type { Logger } from '@switchyard/service-kit/observability'
import { toActivityMessage, toSagaMessage } from '../presenters/saga-messages.js'
import { readCursor, writeCursor } from '../routes/cursor.js'
import { defaultTenant } from './report-metadata.js'
import { createWatchMessages, type WatchDependencies } from './watch-sagas.js'
import { refuseWhileAway } from './while-away.js'

export interface SagaQueryDependencies extends WatchDependencies {
  database: Readable
  logger: Logger
}

/** `switchyard.sagas.v1.SagaQuery` */
export function sagaQueryService(deps: SagaQueryDependencies): GrpcService {
  const { database, authorize, logger } = deps
  const reading = <Request, Response>(read: (request: Request) => Promise<Response>) =>
    unary<Request, Response>(async (request, call: ServerUnaryCall<Request, Response>) => {
      await authorize(call)
      return refuseWhileAway(read(request))
    }, logger)
  const implementation: SagaQueryServer = {
    getSaga: reading((request: GetSagaRequest) => getSaga(database, request)),
    listSagas: reading((request: ListSagasRequest) => listSagas(database, request)),
    watchSagas: serverStream(createWatchMessages(deps), logger),
  }
  return { name: 'switchyard.sagas.v1.SagaQuery', definition: SagaQueryService, implementation }
}

/** Of each payload. */
export const headBytesMax = 16 * 1024

async function getSaga(database: Readable, request: GetSagaRequest): Promise<GetSagaResponse> {
  const key = { tenant: request.tenant || defaultTenant, sagaId: request.sagaId }
  refuseNul({ tenant: key.tenant, saga_id: key.sagaId })
  const [saga, activities] = await Promise.all([
    findSagaView(database, key.tenant, key.sagaId),
    listActivityViews(database, key, headBytesMax),
  ])
  if (!saga) throw notFound('Saga')
  return { saga: toSagaMessage(saga), activities: activities.map(toActivityMessage) }
}

const order: SagaOrder = { by: 'created_at', direction: 'desc' }
const pageSize = { usual: 20, max: 100 }

async function listSagas(database: Readable, request: ListSagasRequest): Promise<ListSagasResponse> {
  const { serviceName, outcome, tag, idPrefix, pageToken } = request
  const tenant = request.tenant || defaultTenant
  refuseNul({ tenant, service_name: serviceName, outcome, tag, id_prefix: idPrefix })
  const search = { tenant, serviceName, status: readStatus(request.status), outcome, tag, idPrefix }
  const after = pageToken === '' ? null : readCursor(order, pageToken)
  const { sagas, next } = await searchSagas(database, { search, order, after }, readPageSize(request))
  return { sagas: sagas.map(toSagaMessage), nextPageToken: next ? writeCursor(order, next) : '' }
}

function readStatus(status: string | undefined): SagaStatus | undefined {
  const known = sagaStatuses.find((name) => name === status)
  if (status !== undefined && !known) throw invalidParameters(['status does not have a valid value'])
  return known
}

function readPageSize({ pageSize: asked }: ListSagasRequest): number {
  if (asked < 0) throw invalidParameters(['page_size does not have a valid value'])
  return Math.min(asked || pageSize.usual, pageSize.max)
}

/** PostgreSQL holds no text with NUL. */
function refuseNul(texts: Record<string, string | undefined>): void {
  const bad = Object.entries(texts).filter(([, text]) => text?.includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map(([name]) => `${name} is invalid`))
}
