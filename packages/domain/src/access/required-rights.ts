import { forbidden, insufficientScope, unauthenticated } from '../errors.js'
import type { Caller } from './caller.js'
import type { Scope } from './scopes.js'

/**
 * Refuses an anonymous caller and a token with none of the accepted scopes.
 *
 * @param accepted scopes that suffice besides `api`
 * @throws DomainError unauthenticated | insufficient-scope
 */
export function requireScope(caller: Caller | null, ...accepted: Scope[]): Caller {
  if (!caller) throw unauthenticated()
  const sufficient: Scope[] = ['api', ...accepted]
  if (!caller.token.scopes.some((scope) => sufficient.includes(scope))) throw insufficientScope(sufficient)
  return caller
}

/** @throws DomainError unauthenticated | insufficient-scope | forbidden */
export function requireAdministrator(caller: Caller | null, ...accepted: Scope[]): Caller {
  const known = requireScope(caller, ...accepted)
  if (!known.user.admin) throw forbidden()
  return known
}

/**
 * Refuses a token that works in one project only: its owner may make one with any name and role, and what is
 * asked for here belongs to no project.
 *
 * @throws DomainError forbidden
 */
export function requireUnboundToken(caller: Caller): Caller {
  if (caller.token.projectId !== undefined && caller.token.projectId !== null) throw forbidden()
  return caller
}

/**
 * The rule of operational data (job metrics, sagas): an administrator, or a token that was given the
 * reading scope by one, whoever its user is.
 *
 * @throws DomainError unauthenticated | forbidden
 */
export function requireAdministratorOrScope(caller: Caller | null, scope: Scope): Caller {
  if (!caller) throw unauthenticated()
  requireUnboundToken(caller)
  if (caller.token.scopes.includes(scope)) return caller
  if (caller.user.admin && caller.token.scopes.some((held) => held === 'api' || held === 'read_api')) {
    return caller
  }
  throw forbidden()
}
