import { DomainError, unavailable } from '@switchyard/domain'
import { requireAdministratorOrScope } from '@switchyard/domain/access'
import type { UnaryCall } from '@switchyard/service-kit/grpc'
import { type Authenticate, callerOf } from '@switchyard/service-kit/http'

/**
 * Lets administrators and tokens with scope `read_sagas` through, however reporters are known: what sagas carry is
 * not for everybody who reaches the port.
 *
 * @throws DomainError unauthenticated | forbidden | unavailable
 */
export type AuthorizeReader = (call: Pick<UnaryCall<unknown>, 'metadata'>) => Promise<void>

export function createAuthorizeReader(authenticate: Authenticate): AuthorizeReader {
  return async ({ metadata }) => {
    try {
      const headers = metadata.getMap() as Record<string, string>
      requireAdministratorOrScope(await callerOf(headers, authenticate), 'read_sagas')
    } catch (error) {
      if (error instanceof DomainError) throw error
      throw unavailable('tokens cannot be checked', { cause: error })
    }
  }
}
