import { forbidden } from '../errors.js'
import { defaultTenant } from '../saga/saga.js'
import type { Caller } from './caller.js'

/** The only tenants of sagas that a sender may name; null: every tenant. */
export type BoundTenants = readonly string[] | null

/** Returns the tenants that the token of a caller is bound to. */
export const boundTenantsOf = (caller: Caller): BoundTenants => {
  const { tenants } = caller.token
  return tenants === undefined || tenants.length === 0 ? null : tenants
}

/**
 * Returns the tenant of a request that names none. A sender that may name only one tenant has that tenant.
 */
export const ownTenant = (bound: BoundTenants): string =>
  bound?.length === 1 ? (bound[0] as string) : defaultTenant

/**
 * Refuses a tenant that the sender may not name.
 *
 * @throws DomainError forbidden
 */
export function requireTenant(bound: BoundTenants, tenant: string): void {
  if (bound === null || bound.includes(tenant)) return
  const tenants = bound.length === 1 ? 'tenant' : 'tenants'
  throw forbidden(`this sender is bound to ${tenants} ${bound.join(', ')} only`)
}

/**
 * Returns whether a sender bound to the tenants `held` may name every tenant that a sender bound to `wanted`
 * may name.
 */
export const includesTenants = (held: BoundTenants, wanted: BoundTenants): boolean =>
  held === null || (wanted?.every((tenant) => held.includes(tenant)) ?? false)
