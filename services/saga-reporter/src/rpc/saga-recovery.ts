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
import {
  claimSagas,
  type Database,
  extendLease,
  findSagaView,
  type LeaseResolution,
  listActivityViews,
  resolveLease,
  type SagaLeaseGrant,
} from '@switchyard/db'
import { forbidden, invalid, invalidParameters } from '@switchyard/domain'
import { defaultTenant } from '@switchyard/domain/saga'
import { type GrpcService, unary } from '@switchyard/service-kit/grpc'
import type { Logger } from '@switchyard/service-kit/observability'
import { toActivityMessage, toSagaMessage } from '../presenters/saga-messages.js'
import type { Authorize } from './authorize.js'
import { fitHeads } from './fit-heads.js'
import type { Peer } from './peer.js'
import { headBytesMax } from './saga-query.js'
import { refuseWhileAway } from './while-away.js'

export interface SagaRecoveryDependencies {
  database: Pick<Database, 'pool'>
  authorize: Authorize
  logger: Logger
}

/** `switchyard.sagas.v1.SagaRecovery`: who may report may call it. */
export function sagaRecoveryService({ database, authorize, logger }: SagaRecoveryDependencies): GrpcService {
  const method = <Request, Response>(work: (request: Request, peer: Peer) => Promise<Response>) =>
    unary<Request, Response>(async (request, call) => {
      const peer = await authorize(call)
      return refuseWhileAway(work(request, peer))
    }, logger)
  const implementation: SagaRecoveryServer = {
    claim: method((request: ClaimRequest, peer) => claim(database, request, peer)),
    extend: method((request: ExtendRequest) => extend(database, request)),
    complete: method((request: CompleteRequest) => complete(database, request)),
  }
  return { name: 'switchyard.sagas.v1.SagaRecovery', definition: SagaRecoveryService, implementation }
}

const limits = {
  sagas: { least: 1, most: 100, usual: 10 },
  leaseSeconds: { least: 1, most: 3600, usual: 60 },
  idleSeconds: { least: 0, most: 365 * 24 * 3600, usual: 240 },
  textChars: 1000,
}

type Limit = (typeof limits)['sagas']

/** @param given 0 or undefined stand for the usual */
function within(name: string, given: number | undefined, { least, most, usual }: Limit): number {
  const value = given ?? usual
  if (value < least || value > most)
    throw invalidParameters([`${name} does not have a valid value (${least} to ${most})`])
  return value
}

async function claim(database: Pick<Database, 'pool'>, request: ClaimRequest, peer: Peer) {
  const tenant = request.tenant || peer.tenant || defaultTenant
  const { serviceName } = request
  if (serviceName.trim() === '') throw invalidParameters(['service_name is empty'])
  if (`${tenant}${serviceName}`.includes('\0')) throw invalidParameters(['service_name is invalid'])
  if (peer.tenant !== null && tenant !== peer.tenant) throw forbidden(`only for tenant ${peer.tenant}`)
  if (peer.service !== null && serviceName !== peer.service)
    throw forbidden(`only for service ${peer.service}`)
  const grants = await claimSagas(database, {
    tenant,
    serviceName,
    take: within('max', request.max || undefined, limits.sagas),
    leaseSeconds: within('lease_seconds', request.leaseSeconds || undefined, limits.leaseSeconds),
    idleSecondsMin: within('min_idle_seconds', request.minIdleSeconds, limits.idleSeconds),
    worker: shownText(request.worker),
    withErrors: request.includeErrors,
  })
  const leased = await Promise.all(grants.map((grant) => describeGrant(database, tenant, grant)))
  return { sagas: fitHeads(leased) } satisfies ClaimResponse
}

async function describeGrant(
  database: Pick<Database, 'pool'>,
  tenant: string,
  { sagaId, token, leasedUntil, attempt }: SagaLeaseGrant,
): Promise<LeasedSaga> {
  const [saga, activities] = await Promise.all([
    findSagaView(database, tenant, sagaId),
    listActivityViews(database, { tenant, sagaId }, headBytesMax),
  ])
  return {
    saga: saga ? toSagaMessage(saga) : undefined,
    activities: activities.map(toActivityMessage),
    leaseToken: token,
    leasedUntil,
    attempt,
  }
}

async function extend(
  database: Pick<Database, 'pool'>,
  { leaseToken, leaseSeconds }: ExtendRequest,
): Promise<ExtendResponse> {
  const seconds = within('lease_seconds', leaseSeconds || undefined, limits.leaseSeconds)
  const leasedUntil = await extendLease(database, readToken(leaseToken), seconds)
  if (!leasedUntil) throw leaseOver()
  return { leasedUntil }
}

const resolutions: Partial<Record<Resolution, LeaseResolution>> = {
  [Resolution.RESOLUTION_DONE]: 'done',
  [Resolution.RESOLUTION_FAILED]: 'failed',
  [Resolution.RESOLUTION_RETURNED]: 'returned',
}

async function complete(
  database: Pick<Database, 'pool'>,
  request: CompleteRequest,
): Promise<CompleteResponse> {
  const resolution = resolutions[request.resolution]
  if (!resolution) throw invalidParameters(['resolution does not have a valid value'])
  const note = shownText(request.note) || null
  const availableAt = await resolveLease(database, readToken(request.leaseToken), { resolution, note })
  if (!availableAt) throw leaseOver()
  return { availableAt: resolution === 'done' ? undefined : availableAt }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function readToken(token: string): string {
  if (!uuid.test(token)) throw leaseOver()
  return token
}

const leaseOver = () => invalid('this lease has ended')

const shownText = (text: string): string => text.replaceAll('\0', '').slice(0, limits.textChars)
