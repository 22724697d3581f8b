import type { handleUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type CommonResponse, SagaService } from '@switchyard/contracts/saga'
import { type ReportEventsResponse, SagaIngestService } from '@switchyard/contracts/saga-ingest'
import { type DomainError, isRefusal } from '@switchyard/domain'
import { ownTenant } from '@switchyard/domain/access'
import { SagaRejection } from '@switchyard/domain/saga'
import type { Logger } from '@switchyard/service-kit/observability'
import { type AdmitReporter, type Reporter, requireOwnTenant } from '../access/access.js'
import { type ArrivedCall, type GrpcService, isAbandoned, isPastDeadline, unary } from '../grpc/grpc.js'
import { type Decoder, decoders, methods, reportedOperations } from '../shapes/operations.js'
import { type ReportMetadata, readReportEvents, readReportMetadata, readReports } from './decode.js'
import { toEventReply } from './event-reply.js'
import type { ReportEvents, ReportOutcome } from './report.js'
import * as report from './report.js'

export interface ReportServicesDependencies {
  admitReporter: AdmitReporter
  reportEvents: ReportEvents
  /** Whether to answer isSuccess=false in place of the status UNAVAILABLE. */
  unavailableAsFailure: boolean
  logger: Logger
}

/** The package name that older clients use. */
export const olderName = { file: 'saga.proto', package: 'pole.Sagas.Server.Grpc' }

const serviceNames = ['svc.Sagas.Server.Grpc.Saga', `${olderName.package}.Saga`]

/**
 * Returns the services that report: the operations of the contract, under each of the service's names, and
 * `switchyard.sagas.v1.SagaIngest` for many events in one call.
 */
export function reportServices(deps: ReportServicesDependencies): GrpcService[] {
  const { admitReporter, reportEvents, logger } = deps
  const single = singleMethods(deps)
  const batch = unary<Buffer, ReportEventsResponse, AdmittedReport>(
    async (request, call, { metadata, ...sender }) => {
      const reports = readReports(readReportEvents(request), (event) => event, metadata)
      const givenUp = () => isAbandoned(call, Date.now())
      const outcomes = await reportEvents({ ...sender, reports, givenUp })
      report.logFailures(outcomes, logger)
      return { results: outcomes.map(toEventReply) }
    },
    logger,
  )
  return [
    ...serviceNames.map((name) => ({ name, definition: asBytes(SagaService, name), ...single })),
    {
      name: 'switchyard.sagas.v1.SagaIngest',
      definition: asBytes(SagaIngestService, 'switchyard.sagas.v1.SagaIngest'),
      implementation: { reportEvents: batch },
      admit: (call) => admitReport(admitReporter, call),
    },
  ]
}

/** The data of a report from its headers. */
interface AdmittedReport extends Reporter {
  metadata: ReportMetadata
}

/** @throws DomainError when the call is refused */
async function admitReport(admitReporter: AdmitReporter, call: ArrivedCall): Promise<AdmittedReport> {
  const reporter = await admitReporter(call)
  const own = ownTenant(reporter.peer.tenants)
  const metadata = readReportMetadata(call.metadata, own)
  // A call without a tenant is checked by its events, because they may name some.
  if (metadata.tenant !== own) requireOwnTenant(reporter.peer, metadata.tenant)
  return { ...reporter, metadata }
}

type AdmittedSingle = AdmittedReport | { unavailable: DomainError }

function singleMethods({
  admitReporter,
  reportEvents,
  unavailableAsFailure,
  logger,
}: ReportServicesDependencies) {
  const operation = (decode: Decoder): handleUnaryCall<Buffer, CommonResponse> =>
    unary<Buffer, CommonResponse, AdmittedSingle>(async (request, call, admitted) => {
      try {
        if ('unavailable' in admitted) throw admitted.unavailable
        const { metadata, ...sender } = admitted
        const givenUp = () => isAbandoned(call, Date.now())
        const reports = [{ raw: decode(request), request, metadata }]
        const [outcome] = await reportEvents({ ...sender, reports, givenUp })
        return responseOf(outcome)
      } catch (error) {
        const isAwaited = unavailableAsFailure && !isPastDeadline(call, Date.now())
        if (isAwaited && isRefusal(error, 'unavailable')) return unavailableResponse(error)
        throw error
      }
    }, logger)
  const implementation: UntypedServiceImplementation = Object.fromEntries(
    reportedOperations.map((name) => [methods[name], operation(decoders[name])]),
  )
  /**
   * With `unavailableAsFailure`, a report that cannot be checked now is admitted, and answered with
   * isSuccess=false.
   */
  const admit = async (call: ArrivedCall): Promise<AdmittedSingle> => {
    try {
      return await admitReport(admitReporter, call)
    } catch (error) {
      if (unavailableAsFailure && isRefusal(error, 'unavailable')) return { unavailable: error }
      throw error
    }
  }
  return { implementation, admit }
}

/**
 * Makes the methods receive requests as bytes: the log stores the bytes unchanged, and undecodable ones are
 * INVALID_ARGUMENT.
 */
function asBytes(definition: ServiceDefinition, serviceName: string): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        path: `/${serviceName}/${method.path.split('/').at(-1)}`,
        requestDeserialize: (bytes: Buffer) => bytes,
      },
    ]),
  )
}

/** @throws the failure of the event */
function responseOf(outcome: ReportOutcome | undefined): CommonResponse {
  if (outcome === undefined) throw new Error('an event has no outcome')
  if (outcome instanceof SagaRejection) {
    const { message, errors } = outcome
    return { isSuccess: false, message, errors }
  }
  if (outcome instanceof Error) throw outcome
  return { isSuccess: true, message: outcome, errors: '' }
}

/**
 * Returns the answer for clients that ignore statuses: the event could not be stored now, and may be sent
 * again.
 */
const unavailableResponse = ({ message }: Error): CommonResponse => ({
  isSuccess: false,
  message: 'temporarily unavailable',
  errors: `UNAVAILABLE: ${message}`,
})
