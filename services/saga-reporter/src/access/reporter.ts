import { forbidden } from '@switchyard/domain'
import { type Caller, requireScope, requireUnboundToken } from '@switchyard/domain/access'
import type { Peer } from './peer.js'

/**
 * The sender of reports who holds a token.
 *
 * @param isForCertificates only holders of certificates may report
 * @throws DomainError unauthenticated | insufficient-scope | forbidden
 */
export function reporterOf(caller: Caller | null, isForCertificates = false): Peer {
  const { token } = requireUnboundToken(requireScope(caller, 'saga_report'))
  if (isForCertificates) throw forbidden('events are reported over gRPC with a certificate')
  return { name: `token ${token.id}`, service: null, tenant: null }
}
