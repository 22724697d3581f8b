import {
  type GetSagaRequest,
  type GetSagaResponse,
  type ListSagasRequest,
  type SagaQueryServer,
  SagaQueryService,
} from '@switchyard/contracts/saga-query'
import type { Readable } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import type { AuthorizeReader } from '../access/authorize-reader.js'
import type { LiveSagas } from '../live/live-sagas.js'
import { toActivityMessage, toSagaMessage } from '../presenters/saga-messages.js'
import { asUnavailable } from '../use-cases/as-unavailable.js'
import { getSaga } from '../use-cases/get-saga.js'
import { readSagaKey } from '../wire/query-requests.js'
import { listSagas } from './list-sagas.js'
import { type AdmittedReader, withTenant } from './reader-admission.js'
import type { Admission } from './server/admission.js'
import { limitRequests } from './server/limit-requests.js'
import type { GrpcService } from './server/server.js'
import { serverStream } from './server/server-stream.js'
import { unary } from './server/unary.js'
import { createWatchMessages } from './watch-sagas.js'

export interface SagaQueryDependencies {
  database: Readable
  live: LiveSagas
  authorize: AuthorizeReader
  admission: Admission<AdmittedReader>
  /** How long a client of a stream may read no message. */
  stallMsMax: number
  logger: Logger
}

const requestBytesMax = 64 * 1024

/** `switchyard.sagas.v1.SagaQuery` */
export function sagaQueryService(deps: SagaQueryDependencies): GrpcService {
  const { admission, database, logger } = deps
  const reading = <Request extends { tenant: string }, Response>(
    read: (request: Request) => Promise<Response>,
  ) =>
    unary<Request, Response>(
      async (request, call) => asUnavailable(read(withTenant(request, admission.of(call).caller))),
      logger,
    )
  const implementation: SagaQueryServer = {
    getSaga: reading((request: GetSagaRequest) => presentSaga(database, request)),
    listSagas: reading((request: ListSagasRequest) => listSagas(database, request)),
    watchSagas: serverStream(createWatchMessages(deps), logger),
  }
  return {
    name: 'switchyard.sagas.v1.SagaQuery',
    definition: limitRequests(SagaQueryService, requestBytesMax),
    implementation,
    admit: admission.admit,
  }
}

async function presentSaga(database: Readable, request: GetSagaRequest): Promise<GetSagaResponse> {
  const { saga, activities } = await getSaga(database, readSagaKey(request))
  return { saga: toSagaMessage(saga), activities: activities.map(toActivityMessage) }
}
