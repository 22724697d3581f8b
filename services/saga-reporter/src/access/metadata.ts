import { isIP } from 'node:net'
import type { Metadata } from '@grpc/grpc-js'
import type { TrustsProxy } from '@switchyard/config'
import { invalidParameters } from '@switchyard/domain'
import type { ArrivedCall } from '../grpc/grpc.js'

/** Keys with one value. `x-tag` may occur several times; a second `traceparent` makes both unreadable. */
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

/** All keys that are read. Their binary variants are not read. */
const readKeys = new Set([...singleKeys, 'x-tag', 'traceparent'])
const binaryKeys = new Set([...readKeys].map((key) => `${key}-bin`))

/**
 * Refuses metadata that would be lost or misunderstood: values beyond printable ASCII, binary keys, and
 * repeated keys. HTTP may join the values of a repeated header with a comma, so a value with a comma is
 * refused as well: `a, b` would look like one tenant.
 *
 * @throws DomainError invalid-parameters
 */
export function checkMetadata({
  metadata,
  droppedKeys,
}: Pick<ArrivedCall, 'metadata' | 'droppedKeys'>): void {
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

/** Returns the headers that may contain a token, under their HTTP names. */
export const tokenHeaders = (metadata: Metadata) => ({
  'private-token': textOf(metadata, 'private-token'),
  authorization: textOf(metadata, 'authorization'),
})

/**
 * Returns the address of a caller: the address that a trusted proxy names, otherwise the address of the
 * connection.
 *
 * @param peer `host:port` of the other end of the connection
 */
export function addressOf(metadata: Metadata, peer: string, trustsProxy: TrustsProxy): string {
  const host = peer.replace(/:\d+$/, '')
  const named = textOf(metadata, 'x-forwarded-for')?.split(',').at(-1)?.trim()
  return named !== undefined && isIP(named) !== 0 && trustsProxy(host) ? named : host
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key)
  return value === undefined ? undefined : String(value)
}
