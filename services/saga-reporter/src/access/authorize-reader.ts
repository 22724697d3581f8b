import { type Caller, requireAdministratorOrScope } from '@switchyard/domain/access'
import { type AuthenticateFrom, callerOf, tokenOf } from '@switchyard/service-kit/http'
import { asTokenFailure, type Credentials } from './authorize.js'

/**
 * Admits administrators and tokens with scope `read_sagas`, also when reporters need no token.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden | rate-limited | unavailable
 */
export type AuthorizeReader = (credentials: Pick<Credentials, 'headers' | 'address'>) => Promise<Caller>

export function createAuthorizeReader(authenticate: AuthenticateFrom): AuthorizeReader {
  return async ({ headers, address }) => {
    try {
      const caller = await callerOf(tokenOf(headers), (secret) => authenticate(secret, address))
      return requireAdministratorOrScope(caller, 'read_sagas')
    } catch (error) {
      throw asTokenFailure(error)
    }
  }
}
