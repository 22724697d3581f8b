import { booleanFlag } from '@switchyard/config'
import { listedEntries } from '@switchyard/domain'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Allowed targets of requests besides public addresses. */
export interface TargetPolicy {
  /** Host names in lower case. Every address that they resolve to is allowed. */
  hosts: ReadonlySet<string>
  networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  /** Whether private networks (RFC 1918, unique local), carrier-grade NAT and loopback are allowed. */
  privateNetworks: boolean
}

/**
 * Configuration of every service that checks or calls addresses of others; spread into the service's own
 * schema.
 */
export const outboundTargetFields = {
  WEBHOOK_ALLOWED_HOSTS: z
    .string()
    .refine(
      (list) => entries(list).every(isHostOrNetwork),
      'must be hosts, addresses or networks, separated by commas',
    )
    .optional()
    .describe(
      'Hosts, addresses and networks, separated by commas, that [webhooks](webhooks.md) and requests for the keys of [CI issuers](keyless-ci.md) may reach although they are not public',
    ),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: booleanFlag()
    .default(false)
    .describe(
      '`true` lets webhooks and requests for the keys of CI issuers reach private networks and this machine',
    ),
}

/**
 * Returns the policy of a configuration.
 *
 * @throws Error for a list that {@link outboundTargetFields} refuses
 */
export function targetPolicy(config: {
  WEBHOOK_ALLOWED_HOSTS?: string | undefined
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: boolean
}): TargetPolicy {
  const listed = entries(config.WEBHOOK_ALLOWED_HOSTS ?? '')
  return {
    hosts: new Set(listed.filter((entry) => networkOf(entry) === null)),
    networks: listed.map(networkOf).filter((network) => network !== null),
    privateNetworks: config.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
  }
}

const entries = (list: string): string[] => listedEntries(list.toLowerCase())

const isHostOrNetwork = (entry: string) =>
  networkOf(entry) !== null || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/.test(entry)

/** Parses `10.0.0.0/8`, `10.1.2.3` or `[fd00::1]`; null for a host name. */
function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  const address = entry.replace(/^\[|\]$/g, '')
  if (!ipaddr.isValid(address)) return null
  const parsed = ipaddr.process(address)
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128]
}
