import { forbidden, insufficientScope, unauthenticated } from '../errors.js'
import type { Caller } from './caller.js'
import type { Scope } from './scopes.js'

/**
 * Refuses an anonymous caller and a token with none of the accepted scopes.
 *
 * @param accepted sufficient scopes besides `api`
 * @throws DomainError unauthenticated | insufficient-scope
 */
export function requireScope(caller: Caller | null, ...accepted: Scope[]): Caller {
  if (!caller) throw unauthenticated()
  const sufficient: Scope[] = ['api', ...accepted]
  if (!caller.token.scopes.some((scope) => sufficient.includes(scope))) throw insufficientScope(sufficient)
  return caller
}

/**
 * Refuses everybody but an administrator whose token has a sufficient scope.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden
 */
export function requireAdministrator(caller: Caller | null, ...accepted: Scope[]): Caller {
  const known = requireScope(caller, ...accepted)
  if (!known.user.admin) throw forbidden()
  return known
}

/**
 * Refuses a project token for an operation outside of projects, because the maintainer of a project can
 * create project tokens with any name and role.
 *
 * @throws DomainError forbidden
 */
export function requireUnboundToken(caller: Caller): Caller {
  if (caller.token.projectId !== undefined && caller.token.projectId !== null) throw forbidden()
  return caller
}

/**
 * Admits callers to operations (job metrics, sagas, failed jobs): administrators, and holders of a token to
 * which an administrator gave the scope.
 *
 * @param accepted scopes besides `api` that suffice for the token of an administrator
 * @throws DomainError unauthenticated | forbidden
 */
export function requireAdministratorOrScope(
  caller: Caller | null,
  scope: Scope,
  accepted: readonly Scope[] = ['read_api'],
): Caller {
  if (!caller) throw unauthenticated()
  requireUnboundToken(caller)
  if (caller.token.scopes.includes(scope)) return caller
  const sufficient: readonly Scope[] = ['api', ...accepted]
  if (caller.user.admin && caller.token.scopes.some((held) => sufficient.includes(held))) return caller
  throw forbidden()
}
