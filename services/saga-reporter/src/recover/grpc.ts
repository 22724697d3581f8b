import {
  type ClaimRequest,
  type ClaimResponse,
  type CompleteRequest,
  type CompleteResponse,
  type ExtendRequest,
  type ExtendResponse,
  type LeasedSaga,
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
import { toActivityMessage, toSagaMessage } from '../shapes/messages.js'
import { headOfText } from '../shapes/payload.js'
import type { Peer } from '../shapes/peer.js'
import type { ClaimedSaga } from './recover.js'
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
  const claimed = await recover.claimSagas(database, wanted)
  return { sagas: fitMessage(claimed.map(toLeasedSaga)) }
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

/** Most bytes of all heads and of all errors, because gRPC clients accept messages of 4 MiB by default. */
const partBytesMax = 1.5 * 1024 * 1024

/** Shortens the heads of payloads and the errors so that all of them fit into one message. */
export function fitMessage(sagas: LeasedSaga[], bytesMax = partBytesMax): LeasedSaga[] {
  const payloads = sagas.flatMap(({ activities }) =>
    activities.flatMap(({ parameter, result }) =>
      [parameter, result].filter((payload) => payload !== undefined),
    ),
  )
  const bytes = payloads.reduce((sum, { head }) => sum + head.length, 0)
  const each = Math.floor(bytesMax / payloads.length)
  if (bytes > bytesMax) for (const payload of payloads) payload.head = payload.head.subarray(0, each)
  fitErrors(sagas, bytesMax)
  return sagas
}

function fitErrors(sagas: LeasedSaga[], bytesMax: number): void {
  const activities = sagas.flatMap((saga) => saga.activities)
  const texts = activities.flatMap(({ executeErrors, compensateErrors }) => [executeErrors, compensateErrors])
  const given = texts.filter((text) => text !== undefined)
  if (given.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= bytesMax) return
  const each = Math.floor(bytesMax / given.length)
  const beginning = (text: string | undefined) => text && headOfText(Buffer.from(text), each)
  for (const activity of activities) {
    activity.executeErrors = beginning(activity.executeErrors)
    activity.compensateErrors = beginning(activity.compensateErrors)
  }
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

/** Returns a leased saga as a message of `switchyard.sagas.v1`. */
const toLeasedSaga = ({ grant: { token, leasedUntil, attempt }, found }: ClaimedSaga): LeasedSaga => ({
  saga: found ? toSagaMessage(found.saga) : undefined,
  activities: found?.activities.map(toActivityMessage) ?? [],
  leaseToken: token,
  leasedUntil,
  attempt,
})
