import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type CommonResponse, SagaService } from '@switchyard/contracts/saga'
import { type GrpcService, unary } from '@switchyard/service-kit/grpc'
import type { Logger } from '@switchyard/service-kit/observability'
import type { ReportEvent } from '../use-cases/report-event.js'
import type { Authorize } from './authorize.js'
import { type Decoder, decoders } from './decoders.js'
import { readReportMetadata } from './report-metadata.js'

interface Dependencies {
  reportEvent: ReportEvent
  authorize: Authorize
  logger: Logger
}

/** The contract's name, and the one that clients use which are older than it. */
const serviceNames = ['svc.Sagas.Server.Grpc.Saga', 'pole.Sagas.Server.Grpc.Saga']

/** The ten operations, under each of the service's names. */
export function sagaServices(deps: Dependencies): GrpcService[] {
  const implementation = sagaImplementation(deps)
  return serviceNames.map((name) => ({ name, definition: definitionUnder(name), implementation }))
}

function sagaImplementation({ reportEvent, authorize, logger }: Dependencies) {
  const report = (decode: Decoder) =>
    unary<Buffer, CommonResponse>(async (request, call) => {
      const { metadata } = call
      await authorize(metadata)
      const givenUp = () => call.cancelled || isPast(call.getDeadline())
      return reportEvent({ raw: decode(request), request, ...readReportMetadata(metadata), givenUp })
    }, logger)
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

const isPast = (deadline: Date | number) => deadline !== Number.POSITIVE_INFINITY && Date.now() >= +deadline

/** Requests reach the methods as bytes: the log keeps them as they came, and what they are is judged by our decoders. */
function definitionUnder(serviceName: string): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(SagaService).map(([name, method]) => [
      name,
      {
        ...method,
        path: `/${serviceName}/${method.path.split('/').at(-1)}`,
        requestDeserialize: (bytes: Buffer) => bytes,
      },
    ]),
  ) as ServiceDefinition
}
