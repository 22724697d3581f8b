import type { BoundTenants } from '@switchyard/domain/access'

/** The sender of reports, as the server knows it. */
export interface Peer {
  /** Distinguishes this sender from other senders; null when every caller of the port is let in. */
  name: string | null
  /** The only service this sender may report for; null: any. */
  service: string | null
  /** The only tenants this sender may report for; null: any. */
  tenants: BoundTenants
  /**
   * Tenants that other senders are bound to, when this sender is bound to none: it may not report for them.
   */
  foreignTenants?: ReadonlySet<string>
  /**
   * A CI job: its events count together with those of the same rule and subject, whatever services they name.
   */
  isJob?: true
}

/** Certificate name → what its holder may report for. */
export type PeerBindings = ReadonlyMap<string, Peer>

/**
 * Reads `orders.internal=service:orders, billing=tenant:acme`; a name that comes twice is bound to both
 * values. A tenant that one certificate is bound to is closed to certificates that are bound to a service
 * alone.
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
