import { isIP } from 'node:net'
import type { Metadata } from '@grpc/grpc-js'
import { invalidParameters } from '@switchyard/domain'
import type { TrustsProxy } from '@switchyard/service-kit/config'

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

/**
 * Refuses a key that came twice. HTTP may join the values of a repeated header with a comma, so a value with a comma is
 * refused as well: `a, b` would otherwise be taken for one tenant.
 *
 * @throws DomainError invalid-parameters
 */
export function requireSingleValues(metadata: Metadata): void {
  const problems = singleKeys.filter((key) => {
    const values = metadata.get(key)
    return values.length > 1 || `${values[0] ?? ''}`.includes(',')
  })
  if (problems.length > 0)
    throw invalidParameters(problems.map((key) => `${key} must have one value, without a comma`))
}

/** The headers that may carry a token, as HTTP names them. */
export const tokenHeaders = (metadata: Metadata) => ({
  'private-token': textOf(metadata, 'private-token'),
  authorization: textOf(metadata, 'authorization'),
})

const forwardedFor = 'x-forwarded-for'

/**
 * Writes the address of a caller into the metadata of its call, whatever the caller has put there: the address that a trusted proxy
 * names, else that of the connection.
 *
 * @param peer `host:port` of the other end of the connection
 */
export function nameAddress(metadata: Metadata, peer: string, trustsProxy: TrustsProxy): void {
  const host = peer.replace(/:\d+$/, '')
  const named = textOf(metadata, forwardedFor)?.split(',').at(-1)?.trim()
  const isBelieved = named !== undefined && isIP(named) !== 0 && trustsProxy(host)
  metadata.set(forwardedFor, isBelieved ? named : host)
}

/** The address of a caller that {@link nameAddress} has named. */
export const addressOf = (metadata: Metadata): string => textOf(metadata, forwardedFor) ?? ''

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key)
  return value === undefined ? undefined : String(value)
}
