import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js'
import type { CommonResponse } from '@switchyard/contracts/saga'
import { DomainError } from '@switchyard/domain'
import { ownTenant } from '@switchyard/domain/access'
import { SagaRejection } from '@switchyard/domain/saga'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Authorize } from '../access/authorize.js'
import { type Peer, requireOwnTenant } from '../access/peer.js'
import type { RateLimit } from '../access/rate-limit.js'
import { recordedResponse, rejectedResponse, unavailableResponse } from '../presenters/common-response.js'
import type { ReportEvents } from '../use-cases/report-events.js'
import type { Decoder } from '../wire/decoders.js'
import { type ReportMetadata, readReportMetadata } from '../wire/report-metadata.js'
import { credentialsOf } from './credentials.js'
import { type Admission, type ArrivedCall, createAdmission } from './server/admission.js'
import { isAbandoned, isPastDeadline } from './server/deadline.js'
import { unary } from './server/unary.js'

export interface ReportDependencies {
  reportEvents: ReportEvents
  authorize: Authorize
  rateLimit: RateLimit
  /** Answer isSuccess=false where the status would be UNAVAILABLE. */
  unavailableAsFailure: boolean
  logger: Logger
}

/** What is known of a report from its headers. */
export interface ReportHeaders {
  peer: Peer
  address: string
  metadata: ReportMetadata
}

/** With `unavailableAsFailure`, a report that cannot be checked now is admitted, and its answer says isSuccess=false. */
export type AdmittedReport = ReportHeaders | { unavailable: DomainError }

/** Admits or refuses reports by their headers: token or certificate, metadata, tenant, and the rate of the certificate's service. */
export function createReportAdmission(deps: ReportDependencies): Admission<AdmittedReport> {
  return createAdmission<AdmittedReport>(async (call) => {
    try {
      return await judgeReport(deps, call)
    } catch (error) {
      if (deps.unavailableAsFailure && isUnavailable(error)) return { unavailable: error }
      throw error
    }
  })
}

/** @throws DomainError when the call is refused */
export async function judgeReport(
  { authorize, rateLimit }: Pick<ReportDependencies, 'authorize' | 'rateLimit'>,
  call: ArrivedCall,
): Promise<ReportHeaders> {
  const credentials = credentialsOf(call)
  const peer = await authorize(credentials)
  const own = ownTenant(peer.tenants)
  const metadata = readReportMetadata(call.metadata, own)
  // A call that names no tenant is judged by its events, which may name some.
  if (metadata.tenant !== own) requireOwnTenant(peer, metadata.tenant)
  rateLimit.countByHeaders(peer)
  return { peer, address: credentials.address, metadata }
}

type Call = ServerUnaryCall<Buffer, CommonResponse>

/** Creates the method of one operation. */
export const reportMethod =
  (deps: ReportDependencies, admission: Admission<AdmittedReport>) =>
  (decode: Decoder): handleUnaryCall<Buffer, CommonResponse> =>
    unary(async (request, call) => {
      try {
        return await report(deps, admission.of(call), decode, request, call)
      } catch (error) {
        const isAwaited = deps.unavailableAsFailure && !isPastDeadline(call, Date.now())
        if (isAwaited && isUnavailable(error)) return unavailableResponse(error)
        throw error
      }
    }, deps.logger)

async function report(
  { reportEvents }: ReportDependencies,
  admitted: AdmittedReport,
  decode: Decoder,
  request: Buffer,
  call: Call,
): Promise<CommonResponse> {
  if ('unavailable' in admitted) throw admitted.unavailable
  const { metadata, ...sender } = admitted
  const givenUp = () => isAbandoned(call, Date.now())
  const reports = [{ raw: decode(request), request, metadata }]
  const [outcome] = await reportEvents({ ...sender, reports, givenUp })
  if (outcome === undefined) throw new Error('an event has no outcome')
  if (outcome instanceof SagaRejection) return rejectedResponse(outcome)
  if (outcome instanceof Error) throw outcome
  return recordedResponse(outcome)
}

const isUnavailable = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind === 'unavailable'
