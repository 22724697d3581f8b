import { forbidden, insufficientScope, unauthenticated } from '@switchyard/domain'
import { boundTenantsOf, type Caller, requireUnboundToken } from '@switchyard/domain/access'
import type { Peer } from './peer.js'

/**
 * The sender of reports who holds a token: of scope `saga_report`, or of scope `api` and an administrator.
 *
 * @param isForCertificates only holders of certificates may report
 * @throws DomainError unauthenticated | insufficient-scope | forbidden
 */
export function reporterOf(caller: Caller | null, isForCertificates = false): Peer {
  if (!caller) throw unauthenticated()
  const { user, token } = requireUnboundToken(caller)
  const mayReport = token.scopes.includes('saga_report') || (user.admin && token.scopes.includes('api'))
  if (!mayReport) throw insufficientScope(['saga_report'])
  if (isForCertificates) throw forbidden('events are reported over gRPC with a certificate')
  return { name: `token ${token.id}`, service: null, tenants: boundTenantsOf(caller) }
}
