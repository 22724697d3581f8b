import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type CommonResponse, SagaService } from '@switchyard/contracts/saga'
import { DomainError } from '@switchyard/domain'
import { defaultTenant } from '@switchyard/domain/saga'
import { type GrpcService, isAbandoned, type UnaryCall, unary } from '@switchyard/service-kit/grpc'
import type { Logger } from '@switchyard/service-kit/observability'
import { encodeResponse, unavailableResponse } from '../presenters/common-response.js'
import type { ReportEvent } from '../use-cases/report-event.js'
import type { Authorize } from './authorize.js'
import { type Decoder, decoders } from './decoders.js'
import { requireOwn } from './peer.js'
import type { RateLimit } from './rate-limit.js'
import { readReportMetadata } from './report-metadata.js'

interface Dependencies {
  reportEvent: ReportEvent
  authorize: Authorize
  rateLimit: RateLimit
  /** Answer isSuccess=false where the status would be UNAVAILABLE. */
  unavailableAsFailure: boolean
  logger: Logger
}

/** The contract's name, and the one that clients use which are older than it. */
const serviceNames = ['svc.Sagas.Server.Grpc.Saga', 'pole.Sagas.Server.Grpc.Saga']

/** The ten operations, under each of the service's names. */
export function sagaServices(deps: Dependencies): GrpcService[] {
  const implementation = sagaImplementation(deps)
  return serviceNames.map((name) => ({ name, definition: definitionUnder(name), implementation }))
}

type Call = UnaryCall<Buffer>

function sagaImplementation(deps: Dependencies) {
  const { reportEvent, authorize, rateLimit, unavailableAsFailure, logger } = deps
  const report = (decode: Decoder) => {
    const take = async (request: Buffer, call: Call) => {
      const peer = await authorize(call)
      const raw = decode(request)
      const metadata = readReportMetadata(call.metadata, peer.tenant ?? defaultTenant)
      requireOwn(peer, metadata.tenant, raw)
      rateLimit({ peer, tenant: metadata.tenant, event: raw, address: () => addressOf(call.getPeer()) })
      const givenUp = () => isAbandoned(call, Date.now())
      return reportEvent({ raw, request, metadata, ownService: peer.service, givenUp })
    }
    const folded = (request: Buffer, call: Call) => take(request, call).catch(foldUnavailable)
    return unary(unavailableAsFailure ? folded : take, logger)
  }
  return {
    sagaStarted: report(decoders.SagaStarted),
    sagaEnded: report(decoders.SagaEnded),
    activityExecuteStarted: report(decoders.ActivityExecuteStarted),
    activityRetried: report(decoders.ActivityRetried),
    activityExecuteAborted: report(decoders.ActivityExecuteAborted),
    activityCompensateAborted: report(decoders.ActivityCompensateAborted),
    activityEnded: report(decoders.ActivityEnded),
    activityCompensated: report(decoders.ActivityCompensated),
    activityExecuteOvertime: report(decoders.ActivityExecuteOvertime),
    activityRevoked: report(decoders.ActivityRevoked),
  } satisfies Record<keyof typeof SagaService, unknown> as UntypedServiceImplementation
}

function foldUnavailable(error: unknown): CommonResponse {
  if (error instanceof DomainError && error.kind === 'unavailable') return unavailableResponse(error)
  throw error
}

/** `host:port` without the port, which is another for each connection. */
const addressOf = (peer: string) => peer.replace(/:\d+$/, '')

/** Requests reach the methods as bytes: the log keeps them as they came, and what they are is judged by our decoders. */
function definitionUnder(serviceName: string): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(SagaService).map(([name, method]) => [
      name,
      {
        ...method,
        path: `/${serviceName}/${method.path.split('/').at(-1)}`,
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: encodeResponse,
      },
    ]),
  ) as ServiceDefinition
}
