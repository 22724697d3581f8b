import { invalidParameters } from '@switchyard/domain'
import { boundTenantsOf, type Caller, ownTenant, requireTenant } from '@switchyard/domain/access'
import {
  type Endpoint,
  type Guard,
  type Method,
  type Route,
  type RouteOptions,
  route,
} from '@switchyard/service-kit/http'
import type { z } from 'zod'

/**
 * A row of the route list for requests about sagas of the tenant that the parameter `tenant` names. The token
 * of a caller who is bound to tenants can name no other, and one that is bound to a single tenant means that
 * one where it names none.
 */
export function tenantRoute<Input extends z.ZodType>(
  method: Method,
  path: string,
  guard: Guard<Caller>,
  definition: Endpoint<Input, Caller>,
  options: RouteOptions = {},
): Route {
  const handle: typeof definition.handle = async (input, caller, call) => {
    requireOwnTenant(caller, input as { tenant?: string })
    return definition.handle(input, caller, call)
  }
  const defaults = (caller: unknown) => {
    const bound = boundTenantsOf(caller as Caller)
    return bound?.length === 1 ? { tenant: bound[0] } : {}
  }
  return route(method, path, guard, { ...definition, handle }, { ...options, defaults })
}

/** @throws DomainError forbidden | invalid-parameters when the request is about every tenant */
function requireOwnTenant(caller: Caller, { tenant }: { tenant?: string }): void {
  const bound = boundTenantsOf(caller)
  if (bound === null) return
  if (tenant === undefined) throw invalidParameters(['tenant is missing'])
  requireTenant(bound, tenant)
}

/**
 * A request with its tenant: the one that it names, else the one of its reader.
 *
 * @throws DomainError forbidden when the reader's token is bound to other tenants
 */
export function withTenant<Request extends { tenant: string }>(request: Request, caller: Caller): Request {
  const bound = boundTenantsOf(caller)
  const tenant = request.tenant || ownTenant(bound)
  requireTenant(bound, tenant)
  return { ...request, tenant }
}
