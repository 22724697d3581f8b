import { invalidParameters } from '@switchyard/domain'
import { refuseNul } from './parameters.js'

/**
 * Reads the tenant and the service of a request.
 *
 * @param tenantOtherwise the tenant when the request names none
 * @throws DomainError invalid-parameters
 */
export function readService(
  { tenant: named, serviceName }: { tenant: string; serviceName: string },
  tenantOtherwise: string,
): { tenant: string; serviceName: string } {
  const tenant = named || tenantOtherwise
  if (serviceName.trim() === '') throw invalidParameters(['service_name is empty'])
  refuseNul({ tenant, service_name: serviceName })
  return { tenant, serviceName }
}

/**
 * Checks that a number of a request is within its limits.
 *
 * @param given undefined: the default
 * @throws DomainError invalid-parameters
 */
export function within(
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

export const isUuid = (text: string): boolean => uuid.test(text)

/** Returns the token of a lease; null when no lease can have such a token. */
export const readToken = (text: string): string | null => (isUuid(text) ? text : null)

const textCharsMax = 1000

/** Returns a text for operators, without NUL, which PostgreSQL cannot store. */
export const shownText = (text: string): string => text.replaceAll('\0', '').slice(0, textCharsMax)
