/** The tenant of whoever names none. */
export const defaultTenant = 'default'

/**
 * One text for an identifier of a tenant, as the key of a table. Identifiers hold no control characters, so no two pairs
 * have the same one. The default tenant's are the identifiers themselves: a text that is put together is hashed again
 * for each look-up, and most are of this tenant.
 */
export const keyInTenant = (tenant: string, id: string): string =>
  tenant === defaultTenant ? id : `${id}\0${tenant}`
