import { BlockList, isIP } from 'node:net'
import type { Metadata } from '@grpc/grpc-js'
import { invalidParameters } from '@switchyard/domain'

/** Keys that have one value. `x-tag` may come several times; a second `traceparent` makes both unreadable. */
const singleKeys = [
  'authorization',
  'private-token',
  'x-tenant',
  'x-event-id',
  'x-event-time',
  'x-event-seq',
  'x-attempt',
  'x-parent-saga-id',
]

/** Every key that is read, and its variant for bytes, which is not. */
const readKeys = new Set([...singleKeys, 'x-tag', 'traceparent'])
const binaryKeys = new Set([...readKeys].map((key) => `${key}-bin`))

/**
 * Refuses what would be left out or misunderstood: values beyond printable ASCII, keys for bytes, and a key that came twice.
 * HTTP may join the values of a repeated header with a comma, so a value with a comma is refused as well: `a, b` would
 * otherwise be taken for one tenant.
 *
 * @throws DomainError invalid-parameters
 */
export function checkMetadata({ metadata, droppedKeys }: ReceivedMetadata): void {
  const problems = singleKeys
    .filter((key) => {
      const values = metadata.get(key)
      return values.length > 1 || `${values[0] ?? ''}`.includes(',')
    })
    .map((key) => `${key} must have one value, without a comma`)
  for (const key of droppedKeys) if (readKeys.has(key)) problems.push(`${key} must be printable ASCII`)
  for (const key of Object.keys(metadata.getMap()))
    if (binaryKeys.has(key)) problems.push(`${key} is not supported; a batch takes texts beyond ASCII`)
  if (problems.length > 0) throw invalidParameters(problems)
}

interface ReceivedMetadata {
  metadata: Metadata
  /** Keys whose values cannot be read, and which are missing in the metadata. */
  droppedKeys: readonly string[]
}

/** The headers that may carry a token, as HTTP names them. */
export const tokenHeaders = (metadata: Metadata) => ({
  'private-token': textOf(metadata, 'private-token'),
  authorization: textOf(metadata, 'authorization'),
})

/** The networks of our proxies, as in `trust proxy` of the HTTP server. */
const proxies = new BlockList()
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  proxies.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['fe80::', 10],
  ['fc00::', 7],
] as const)
  proxies.addSubnet(network, prefix, 'ipv6')
proxies.addAddress('::1', 'ipv6')

/**
 * The address of a caller: the one that our proxy names, else that of the connection.
 *
 * @param peer `host:port` of the other end of the connection
 */
export function addressOf(peer: string, metadata: Metadata): string {
  const host = peer.replace(/:\d+$/, '')
  const family = isIP(host)
  if (family === 0 || !proxies.check(host, family === 4 ? 'ipv4' : 'ipv6')) return host
  const forwarded = textOf(metadata, 'x-forwarded-for')?.split(',').at(-1)?.trim()
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : host
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key)
  return value === undefined ? undefined : String(value)
}
