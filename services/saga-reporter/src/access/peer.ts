import type { PeerCertificate } from 'node:tls'
import { forbidden } from '@switchyard/domain'
import { type BoundTenants, requireTenant } from '@switchyard/domain/access'
import { parseEventTime, type RawSagaEvent } from '@switchyard/domain/saga'

/** The sender of reports, as the server knows it. */
export interface Peer {
  /** Distinguishes this sender from other senders; null when every caller of the port is let in. */
  name: string | null
  /** The only service this sender may report for; null: any. */
  service: string | null
  /** The only tenants this sender may report for; null: any. */
  tenants: BoundTenants
  /** Tenants that other senders are bound to, when this sender is bound to none: it may not report for them. */
  foreignTenants?: ReadonlySet<string>
}

/** Certificate name → what its holder may report for. */
export type PeerBindings = ReadonlyMap<string, Peer>

/**
 * Reads `orders.internal=service:orders, billing=tenant:acme`; a name that comes twice is bound to both values. A tenant
 * that one certificate is bound to is closed to certificates that are bound to a service alone.
 *
 * @returns null when the text is no such list
 */
export function parsePeerBindings(text: string): PeerBindings | null {
  const bindings = new Map<string, Peer>()
  for (const entry of text.split(',').map((part) => part.trim())) {
    const found = /=\s*(service|tenant):/.exec(entry)
    const name = entry.slice(0, found?.index).trimEnd()
    const value = found ? entry.slice(found.index + found[0].length).trim() : ''
    if (name === '' || /\s/.test(name) || value === '') return null
    const known = bindings.get(name) ?? { name, service: null, tenants: null }
    bindings.set(name, { ...known, ...(found?.[1] === 'tenant' ? { tenants: [value] } : { service: value }) })
  }
  const tenants = new Set([...bindings.values()].flatMap(({ tenants }) => tenants ?? []))
  for (const [name, peer] of bindings) {
    if (peer.tenants === null) bindings.set(name, { ...peer, foreignTenants: tenants })
  }
  return bindings
}

/** The names a certificate gives its holder: the DNS and URI ones of subjectAltName, else the common name. */
export function certificateNames({ subjectaltname = '', subject }: Partial<PeerCertificate>): string[] {
  const names: string[] = []
  // Node quotes values that hold commas, so every entry is read from where the one before it ended:
  // text within quotes must never pass for a name.
  const entry = /(?:^|, )(?<type>[^:",]+):(?<value>"(?:[^"\\]|\\.)*"|[^",]*)/y
  for (let match = entry.exec(subjectaltname); match; match = entry.exec(subjectaltname)) {
    const { type = '', value = '' } = match.groups ?? {}
    if (type === 'DNS' || type === 'URI') names.push(value.startsWith('"') ? JSON.parse(value) : value)
  }
  if (names.length > 0) return names
  const commonName: unknown = subject?.CN
  return typeof commonName === 'string' ? [commonName] : []
}

/** @throws DomainError forbidden for a tenant that the peer may not report for */
export function requireOwnTenant(peer: Peer, tenant: string): void {
  requireTenant(peer.tenants, tenant)
  if (peer.foreignTenants?.has(tenant))
    throw forbidden(`this certificate does not report for tenant ${tenant}`)
}

/** @throws DomainError forbidden for an event that names a service that the peer may not report for */
export function requireOwnService(peer: Peer, event: RawSagaEvent): void {
  if (peer.service === null) return
  const named = serviceNameOf(event)
  if (named !== null && named !== peer.service) {
    throw forbidden(`this certificate reports for service ${peer.service} only`)
  }
}

/** The service an event names; null when it names none. Field 2 of SagaEnded may be a time instead. */
export function serviceNameOf(event: RawSagaEvent): string | null {
  if (event.operation !== 'SagaStarted' && event.operation !== 'SagaEnded') return null
  const name = event.serviceName.trim()
  if (name === '') return null
  return event.operation === 'SagaEnded' && parseEventTime(name) !== null ? null : name
}
