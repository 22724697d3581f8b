import type { ServerUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type ReportEventsResponse, SagaIngestService } from '@switchyard/contracts/saga-ingest'
import type { ReportByCell } from '../cells/report-by-cell.js'
import { toEventReply } from '../presenters/event-reply.js'
import { logFailures } from '../use-cases/report-events.js'
import { tokenHeaders } from '../wire/metadata.js'
import { readReportEvents, readReports } from '../wire/reported-events.js'
import { isForwarded } from './forward-calls.js'
import { judgeReport, type ReportDependencies } from './report-method.js'
import { createAdmission } from './server/admission.js'
import { isAbandoned } from './server/deadline.js'
import type { GrpcService } from './server/server.js'
import { unary } from './server/unary.js'

/** `switchyard.sagas.v1.SagaIngest`: many events in one call, for the callers that may report single events. */
export function sagaIngestService(
  deps: Pick<ReportDependencies, 'authorize' | 'rateLimit' | 'logger'> & { reportByCell: ReportByCell },
): GrpcService {
  const admission = createAdmission(async (call) => judgeReport(deps, call))
  const reportEvents = unary<Buffer, ReportEventsResponse>(async (request, call) => {
    const { metadata, ...sender } = admission.of(call)
    const reports = readReports(readReportEvents(request), (event) => event, metadata)
    const givenUp = () => isAbandoned(call, Date.now())
    const outcomes = await deps.reportByCell(
      { ...sender, reports, givenUp },
      {
        headers: tokenHeaders(call.metadata),
        isForwarded: isForwarded(call.metadata),
        metadata,
        deadline: call.getDeadline(),
        signal: cancellationOf(call),
      },
    )
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

function cancellationOf(call: ServerUnaryCall<unknown, unknown>): AbortSignal {
  const cancellation = new AbortController()
  call.once('cancelled', () => cancellation.abort())
  if (call.cancelled) cancellation.abort()
  return cancellation.signal
}
