import { type Caller, requireAdministratorOrScope } from '@switchyard/domain/access'
import { type AuthenticateFrom, callerOf, tokenOf } from '@switchyard/service-kit/http'
import { asTokenFailure, type Credentials } from './authorize.js'

/**
 * Lets administrators and tokens with scope `read_sagas` through, however reporters are known: not everybody who
 * reaches the port may read sagas.
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
