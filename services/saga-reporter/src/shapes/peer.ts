import type { BoundTenants } from '@switchyard/domain/access'

/** The sender of reports, as the server identifies it. */
export interface Peer {
  /** Distinguishes this sender from others; null when the port admits every caller. */
  name: string | null
  /** The only service for which this sender may report; null: any. */
  service: string | null
  /** The only tenants for which this sender may report; null: any. */
  tenants: BoundTenants
  /** Tenants to which other senders are bound. A sender without bound tenants may not report for them. */
  foreignTenants?: ReadonlySet<string>
  /**
   * Set for a CI job. Limits count its events together with other events of the same rule and subject,
   * whatever services these events name.
   */
  isJob?: true
}

/** Permissions to report by certificate name. */
export type PeerBindings = ReadonlyMap<string, Peer>

/**
 * Parses `orders.internal=service:orders, billing=tenant:acme`; a repeated name is bound to both values. A
 * tenant with a bound certificate is closed to certificates that are bound only to a service.
 *
 * @returns null when the text is malformed
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
