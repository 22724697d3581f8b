import type { Metadata } from '@grpc/grpc-js'
import { DomainError, unavailable } from '@switchyard/domain'
import { requireScope } from '@switchyard/domain/access'
import { type Authenticate, callerOf } from '@switchyard/service-kit/http'

/**
 * Lets a call through, or refuses it.
 *
 * @throws DomainError unauthenticated | insufficient-scope | unavailable
 */
export type Authorize = (metadata: Metadata) => Promise<void>

/** Whoever reaches the port may report. */
const everybody: Authorize = async () => {}

/** Who may report: everybody, or holders of a token with scope `saga_report`. */
export function createAuthorize(auth: 'none' | 'token', authenticate: Authenticate): Authorize {
  if (auth === 'none') return everybody
  return async (metadata) => {
    try {
      const headers = metadata.getMap() as Record<string, string>
      requireScope(await callerOf(headers, authenticate), 'saga_report')
    } catch (error) {
      if (error instanceof DomainError) throw error
      // Nobody is refused because their token could not be looked up.
      throw unavailable('tokens cannot be checked', { cause: error })
    }
  }
}
