import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { SagaService } from '@switchyard/contracts/saga'
import { decoders } from '../wire/decoders.js'
import { type AdmittedReport, type ReportDependencies, reportMethod } from './report-method.js'
import type { Admission } from './server/admission.js'
import type { ServiceAlias } from './server/reflection.js'
import type { GrpcService } from './server/server.js'

/** The package name that older clients use. */
export const olderName: ServiceAlias = { file: 'saga.proto', package: 'pole.Sagas.Server.Grpc' }

const serviceNames = ['svc.Sagas.Server.Grpc.Saga', `${olderName.package}.Saga`]

/** The ten operations, under each of the service's names. */
export function sagaServices(deps: ReportDependencies, admission: Admission<AdmittedReport>): GrpcService[] {
  const report = reportMethod(deps, admission)
  const implementation = {
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
  const { admit } = admission
  return serviceNames.map((name) => ({ name, definition: definitionUnder(name), implementation, admit }))
}

/** The methods get requests as bytes, because the log stores the bytes unchanged. */
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
