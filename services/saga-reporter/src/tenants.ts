import { invalidParameters } from '@switchyard/domain'
import { boundTenantsOf, type Caller, ownTenant, requireTenant } from '@switchyard/domain/access'
import {
  administratorOrScope,
  type Endpoint,
  type Guard,
  type Method,
  type Route,
  type RouteOptions,
  route,
} from '@switchyard/service-kit/http'
import type { z } from 'zod'

export const sagaReader = administratorOrScope('read_sagas')

/**
 * Returns a route for requests about sagas of the tenant in the parameter `tenant`. A token that is bound to
 * tenants can name no other tenant; a token that is bound to one tenant uses that one by default.
 */
export function tenantRoute<Input extends z.ZodType>(
  method: Method,
  path: string,
  guard: Guard<Caller>,
  definition: Endpoint<Input, Caller>,
  options: RouteOptions = {},
): Route {
  const handle: typeof definition.handle = async (input, caller, call) => {
    requireNamedTenant(caller, input as { tenant?: string })
    return definition.handle(input, caller, call)
  }
  const defaults = (caller: unknown) => {
    const bound = boundTenantsOf(caller as Caller)
    return bound?.length === 1 ? { tenant: bound[0] } : {}
  }
  return route(method, path, guard, { ...definition, handle }, { ...options, defaults })
}

/** @throws DomainError forbidden | invalid-parameters when a bound token names no tenant */
function requireNamedTenant(caller: Caller, { tenant }: { tenant?: string }): void {
  const bound = boundTenantsOf(caller)
  if (bound === null) return
  if (tenant === undefined) throw invalidParameters(['tenant is missing'])
  requireTenant(bound, tenant)
}

/**
 * Returns a request with its tenant: the given one, or the only one of its reader.
 *
 * @throws DomainError forbidden when the reader's token is bound to other tenants
 */
export function withTenant<Request extends { tenant: string }>(request: Request, caller: Caller): Request {
  const bound = boundTenantsOf(caller)
  const tenant = request.tenant || ownTenant(bound)
  requireTenant(bound, tenant)
  return { ...request, tenant }
}
