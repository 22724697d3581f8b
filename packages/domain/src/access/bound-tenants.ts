import { forbidden } from '../errors.js'
import { defaultTenant } from '../saga/saga.js'
import type { Caller } from './caller.js'

/** The only tenants of sagas that a sender may name; null: every tenant. */
export type BoundTenants = readonly string[] | null

/** The tenants that the token of a caller is bound to. */
export const boundTenantsOf = (caller: Caller): BoundTenants => {
  const { tenants } = caller.token
  return tenants === undefined || tenants.length === 0 ? null : tenants
}

/** The tenant of a request that names none: that of a sender who may name no other. */
export const ownTenant = (bound: BoundTenants): string =>
  bound?.length === 1 ? (bound[0] as string) : defaultTenant

/** @throws DomainError forbidden for a tenant that the sender may not name */
export function requireTenant(bound: BoundTenants, tenant: string): void {
  if (bound === null || bound.includes(tenant)) return
  const tenants = bound.length === 1 ? 'tenant' : 'tenants'
  throw forbidden(`this sender is bound to ${tenants} ${bound.join(', ')} only`)
}

/** Whether a sender who is bound to `held` may do all that one who is bound to `wanted` may. */
export const includesTenants = (held: BoundTenants, wanted: BoundTenants): boolean =>
  held === null || (wanted?.every((tenant) => held.includes(tenant)) ?? false)
