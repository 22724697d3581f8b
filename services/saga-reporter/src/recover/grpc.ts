import {
  type ClaimRequest,
  type ClaimResponse,
  type CompleteRequest,
  type CompleteResponse,
  type ExtendRequest,
  type ExtendResponse,
  Resolution,
  type SagaRecoveryServer,
  SagaRecoveryService,
} from '@switchyard/contracts/saga-recovery'
import type { Pooled } from '@switchyard/db'
import { invalidParameters } from '@switchyard/domain'
import { type BoundTenants, ownTenant } from '@switchyard/domain/access'
import type { Logger } from '@switchyard/service-kit/observability'
import { type AdmitReporter, type Reporter, requireOwnSagas } from '../access/access.js'
import { type GrpcService, limitRequests, unary } from '../grpc/grpc.js'
import { readService, readToken, shownText, within } from '../shapes/grpc-parameters.js'
import type { Peer } from '../shapes/peer.js'
import { ClaimAnswer } from './claim-answer.js'
import * as recover from './recover.js'
import type { LeaseResolution, SagaClaim } from './store.js'

export interface SagaRecoveryDependencies {
  database: Pooled
  admitReporter: AdmitReporter
  logger: Logger
}

const requestBytesMax = 64 * 1024

/** Returns the service `switchyard.sagas.v1.SagaRecovery`, for callers that may report events. */
export function sagaRecoveryService({
  database,
  admitReporter,
  logger,
}: SagaRecoveryDependencies): GrpcService {
  const method = <Request, Response>(work: (request: Request, peer: Peer) => Promise<Response>) =>
    unary<Request, Response, Reporter>((request, _call, { peer }) => work(request, peer), logger)
  const implementation: SagaRecoveryServer = {
    claim: method((request: ClaimRequest, peer) => claim(database, request, peer)),
    extend: method((request: ExtendRequest, { tenants }) => extend(database, request, tenants)),
    complete: method((request: CompleteRequest, { tenants }) => complete(database, request, tenants)),
  }
  return {
    name: 'switchyard.sagas.v1.SagaRecovery',
    definition: limitRequests(SagaRecoveryService, requestBytesMax),
    implementation,
    admit: admitReporter,
  }
}

async function claim(database: Pooled, request: ClaimRequest, peer: Peer): Promise<ClaimResponse> {
  const wanted = readClaim(request, ownTenant(peer.tenants))
  requireOwnSagas(peer, wanted)
  const answer = new ClaimAnswer()
  await recover.claimSagas(database, wanted, (claimed) => answer.add(claimed))
  return { sagas: answer.sagas }
}

async function extend(
  database: Pooled,
  request: ExtendRequest,
  tenants: BoundTenants,
): Promise<ExtendResponse> {
  const { token, leaseSeconds } = readExtension(request)
  return {
    leasedUntil: await recover.extendLease(
      database,
      token === null ? null : { token, tenants },
      leaseSeconds,
    ),
  }
}

async function complete(
  database: Pooled,
  request: CompleteRequest,
  tenants: BoundTenants,
): Promise<CompleteResponse> {
  const { token, ...outcome } = readCompletion(request)
  const availableAt = await recover.completeLease(
    database,
    token === null ? null : { token, tenants },
    outcome,
  )
  return { availableAt: outcome.resolution === 'done' ? undefined : availableAt }
}

const limits = {
  sagas: { least: 1, most: 100, usual: 10 },
  leaseSeconds: { least: 1, most: 3600, usual: 60 },
  idleSeconds: { least: 0, most: 365 * 24 * 3600, usual: 240 },
}

/**
 * @param tenantOtherwise the tenant when the claim names none
 * @throws DomainError invalid-parameters
 */
function readClaim(request: ClaimRequest, tenantOtherwise: string): SagaClaim {
  return {
    ...readService(request, tenantOtherwise),
    take: within('max', request.max || undefined, limits.sagas),
    leaseSeconds: within('lease_seconds', request.leaseSeconds || undefined, limits.leaseSeconds),
    idleSecondsMin: within('min_idle_seconds', request.minIdleSeconds, limits.idleSeconds),
    worker: shownText(request.worker),
    withErrors: request.includeErrors,
  }
}

/** @throws DomainError invalid-parameters */
const readExtension = ({ leaseToken, leaseSeconds }: ExtendRequest) => ({
  token: readToken(leaseToken),
  leaseSeconds: within('lease_seconds', leaseSeconds || undefined, limits.leaseSeconds),
})

const resolutions: Partial<Record<Resolution, LeaseResolution>> = {
  [Resolution.RESOLUTION_DONE]: 'done',
  [Resolution.RESOLUTION_FAILED]: 'failed',
  [Resolution.RESOLUTION_RETURNED]: 'returned',
}

/** @throws DomainError invalid-parameters */
function readCompletion(request: CompleteRequest) {
  const resolution = resolutions[request.resolution]
  if (!resolution) throw invalidParameters(['resolution does not have a valid value'])
  return { token: readToken(request.leaseToken), resolution, note: shownText(request.note) || null }
}
