import {
  type ClaimRequest,
  type CompleteRequest,
  type ExtendRequest,
  Resolution,
} from '@switchyard/contracts/saga-recovery'
import type { LeaseResolution, SagaClaim } from '@switchyard/db'
import { invalidParameters } from '@switchyard/domain'

const limits = {
  sagas: { least: 1, most: 100, usual: 10 },
  leaseSeconds: { least: 1, most: 3600, usual: 60 },
  idleSeconds: { least: 0, most: 365 * 24 * 3600, usual: 240 },
  textChars: 1000,
}

/**
 * @param tenantOtherwise the tenant of a claim that does not name one
 * @throws DomainError invalid-parameters
 */
export function readClaim(request: ClaimRequest, tenantOtherwise: string): SagaClaim {
  const tenant = request.tenant || tenantOtherwise
  const { serviceName } = request
  if (serviceName.trim() === '') throw invalidParameters(['service_name is empty'])
  if (`${tenant}${serviceName}`.includes('\0')) throw invalidParameters(['service_name is invalid'])
  return {
    tenant,
    serviceName,
    take: within('max', request.max || undefined, limits.sagas),
    leaseSeconds: within('lease_seconds', request.leaseSeconds || undefined, limits.leaseSeconds),
    idleSecondsMin: within('min_idle_seconds', request.minIdleSeconds, limits.idleSeconds),
    worker: shownText(request.worker),
    withErrors: request.includeErrors,
  }
}

/** @throws DomainError invalid-parameters */
export const readExtension = ({ leaseToken, leaseSeconds }: ExtendRequest) => ({
  token: readToken(leaseToken),
  leaseSeconds: within('lease_seconds', leaseSeconds || undefined, limits.leaseSeconds),
})

const resolutions: Partial<Record<Resolution, LeaseResolution>> = {
  [Resolution.RESOLUTION_DONE]: 'done',
  [Resolution.RESOLUTION_FAILED]: 'failed',
  [Resolution.RESOLUTION_RETURNED]: 'returned',
}

/** @throws DomainError invalid-parameters */
export function readCompletion(request: CompleteRequest) {
  const resolution = resolutions[request.resolution]
  if (!resolution) throw invalidParameters(['resolution does not have a valid value'])
  return { token: readToken(request.leaseToken), resolution, note: shownText(request.note) || null }
}

/** @param given undefined stands for the usual value */
function within(
  name: string,
  given: number | undefined,
  { least, most, usual }: { least: number; most: number; usual: number },
): number {
  const value = given ?? usual
  if (value < least || value > most)
    throw invalidParameters([`${name} does not have a valid value (${least} to ${most})`])
  return value
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Null when no lease can have such a token. */
const readToken = (text: string): string | null => (uuid.test(text) ? text : null)

/** PostgreSQL cannot store a text with NUL. */
const shownText = (text: string): string => text.replaceAll('\0', '').slice(0, limits.textChars)
