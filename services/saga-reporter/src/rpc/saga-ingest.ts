import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type ReportEventsResponse, SagaIngestService } from '@switchyard/contracts/saga-ingest'
import { toEventReply } from '../presenters/event-reply.js'
import { logFailures } from '../use-cases/report-events.js'
import { readReportEvents, readReports } from '../wire/reported-events.js'
import { judgeReport, type ReportDependencies } from './report-method.js'
import { createAdmission } from './server/admission.js'
import { isAbandoned } from './server/deadline.js'
import type { GrpcService } from './server/server.js'
import { unary } from './server/unary.js'

/** `switchyard.sagas.v1.SagaIngest`: many events in one call, for the callers that may report single events. */
export function sagaIngestService(deps: Omit<ReportDependencies, 'unavailableAsFailure'>): GrpcService {
  const admission = createAdmission(async (call) => judgeReport(deps, call))
  const reportEvents = unary<Buffer, ReportEventsResponse>(async (request, call) => {
    const { metadata, ...sender } = admission.of(call)
    const reports = readReports(readReportEvents(request), (event) => event, metadata)
    const givenUp = () => isAbandoned(call, Date.now())
    const outcomes = await deps.reportEvents({ ...sender, reports, givenUp })
    logFailures(outcomes, deps.logger)
    return { results: outcomes.map(toEventReply) }
  }, deps.logger)
  const implementation: UntypedServiceImplementation = { reportEvents }
  return {
    name: 'switchyard.sagas.v1.SagaIngest',
    definition: bytesDefinition,
    implementation,
    admit: admission.admit,
  }
}

/** The method gets requests as bytes, so that it can answer undecodable bytes with INVALID_ARGUMENT. */
const bytesDefinition: ServiceDefinition = {
  reportEvents: {
    ...SagaIngestService.reportEvents,
    requestDeserialize: (bytes: Buffer) => bytes,
  },
}
