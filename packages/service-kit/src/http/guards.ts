import {
  type Caller,
  requireAdministrator,
  requireAdministratorOrScope,
  requireScope,
  type Scope,
} from '@switchyard/domain/access'
import { documented, type Guard } from './endpoint.js'

/** Admits everybody, also without a token. */
export const anyone: Guard<Caller | null> = documented({ anonymous: true }, ({ caller }) => caller)

/** Admits everybody with a token for the API; a reading token suffices to read. */
export const signedIn: Guard<Caller> = documented({ who: 'everybody with a token for the API' }, (call) =>
  requireScope(call.caller, ...readingScopes(call)),
)

/** Admits administrators only: 401 for anonymous callers, 403 for everybody else. */
export const administrator: Guard<Caller> = documented({ who: 'administrators' }, (call) =>
  requireAdministrator(call.caller, ...readingScopes(call)),
)

/** Admits administrators, and everybody with a token of this scope. */
export const administratorOrScope = (scope: Scope): Guard<Caller> =>
  documented({ who: `administrators, and tokens with the scope \`${scope}\`` }, (call) =>
    requireAdministratorOrScope(call.caller, scope, readingScopes(call)),
  )

/** Returns the scopes that suffice besides `api`: `read_api` for a request that changes nothing. */
export function readingScopes({ raw }: Parameters<Guard<unknown>>[0]): Scope[] {
  return raw.request.method === 'GET' || raw.request.method === 'HEAD' ? ['read_api'] : []
}
