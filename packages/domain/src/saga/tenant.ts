/** The tenant of callers that name none. */
export const defaultTenant = 'default'

/**
 * A map key for an identifier of a tenant. Identifiers contain no control characters, so keys are unique. The key in the default
 * tenant is the identifier itself.
 */
export const keyInTenant = (tenant: string, id: string): string =>
  tenant === defaultTenant ? id : `${id}\0${tenant}`
