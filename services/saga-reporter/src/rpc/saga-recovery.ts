import {
  type ClaimRequest,
  type ClaimResponse,
  type CompleteRequest,
  type CompleteResponse,
  type ExtendRequest,
  type ExtendResponse,
  type SagaRecoveryServer,
  SagaRecoveryService,
} from '@switchyard/contracts/saga-recovery'
import type { Database } from '@switchyard/db'
import { forbidden } from '@switchyard/domain'
import { type BoundTenants, ownTenant } from '@switchyard/domain/access'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Authorize } from '../access/authorize.js'
import { type Peer, requireOwnTenant } from '../access/peer.js'
import { toLeasedSaga } from '../presenters/leased-saga.js'
import { asUnavailable } from '../use-cases/as-unavailable.js'
import { claimSagas, completeLease, extendLease } from '../use-cases/recover-sagas.js'
import { readClaim, readCompletion, readExtension } from '../wire/recovery-requests.js'
import { credentialsOf } from './credentials.js'
import { fitHeads } from './fit-heads.js'
import { type Admission, createAdmission } from './server/admission.js'
import { limitRequests } from './server/limit-requests.js'
import type { GrpcService } from './server/server.js'
import { unary } from './server/unary.js'

export interface SagaRecoveryDependencies {
  database: Pick<Database, 'pool'>
  admission: Admission<Peer>
  logger: Logger
}

const requestBytesMax = 64 * 1024

/** Admits the callers that may report events. */
export const createRecoveryAdmission = (authorize: Authorize): Admission<Peer> =>
  createAdmission(async (call) => authorize(credentialsOf(call)))

/** `switchyard.sagas.v1.SagaRecovery`, for the callers that may report events. */
export function sagaRecoveryService({ database, admission, logger }: SagaRecoveryDependencies): GrpcService {
  const method = <Request, Response>(work: (request: Request, peer: Peer) => Promise<Response>) =>
    unary<Request, Response>((request, call) => asUnavailable(work(request, admission.of(call))), logger)
  const implementation: SagaRecoveryServer = {
    claim: method((request: ClaimRequest, peer) => claim(database, request, peer)),
    extend: method((request: ExtendRequest, { tenants }) => extend(database, request, tenants)),
    complete: method((request: CompleteRequest, { tenants }) => complete(database, request, tenants)),
  }
  return {
    name: 'switchyard.sagas.v1.SagaRecovery',
    definition: limitRequests(SagaRecoveryService, requestBytesMax),
    implementation,
    admit: admission.admit,
  }
}

type Pool = Pick<Database, 'pool'>

async function claim(database: Pool, request: ClaimRequest, peer: Peer): Promise<ClaimResponse> {
  const wanted = readClaim(request, ownTenant(peer.tenants))
  requireOwnTenant(peer, wanted.tenant)
  if (peer.service !== null && wanted.serviceName !== peer.service)
    throw forbidden(`only for service ${peer.service}`)
  const claimed = await claimSagas(database, wanted)
  return { sagas: fitHeads(claimed.map(toLeasedSaga)) }
}

async function extend(
  database: Pool,
  request: ExtendRequest,
  tenants: BoundTenants,
): Promise<ExtendResponse> {
  const { token, leaseSeconds } = readExtension(request)
  return {
    leasedUntil: await extendLease(database, token === null ? null : { token, tenants }, leaseSeconds),
  }
}

async function complete(
  database: Pool,
  request: CompleteRequest,
  tenants: BoundTenants,
): Promise<CompleteResponse> {
  const { token, ...outcome } = readCompletion(request)
  const availableAt = await completeLease(database, token === null ? null : { token, tenants }, outcome)
  return { availableAt: outcome.resolution === 'done' ? undefined : availableAt }
}
