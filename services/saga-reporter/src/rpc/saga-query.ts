import {
  type GetSagaRequest,
  type GetSagaResponse,
  type ListSagasRequest,
  type SagaQueryServer,
  SagaQueryService,
} from '@switchyard/contracts/saga-query'
import { findSagaView, listActivityViews, type Readable } from '@switchyard/db'
import { invalidParameters, notFound } from '@switchyard/domain'
import { defaultTenant } from '@switchyard/domain/saga'
import { type GrpcService, serverStream, unary } from '@switchyard/service-kit/grpc'
import type { Logger } from '@switchyard/service-kit/observability'
import { toActivityMessage, toSagaMessage } from '../presenters/saga-messages.js'
import { listSagas } from './list-sagas.js'
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
    unary<Request, Response>(async (request, call) => {
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

/** PostgreSQL holds no text with NUL. */
function refuseNul(texts: Record<string, string | undefined>): void {
  const bad = Object.entries(texts).filter(([, text]) => text?.includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map(([name]) => `${name} is invalid`))
}
